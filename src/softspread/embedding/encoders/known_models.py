"""Short names of models on the Hugging Face hub."""

KNOWN = {
    "clip": "openai/clip-vit-base-patch32",  # images and text, 512 features; the paper's
    "vit": "timm/vit_base_patch32_224.augreg_in1k",  # images, 768 features; ImageNet-1k alone, as the paper's
    "resnet": "microsoft/resnet-101",  # images, 2048 features
    "efficientnet": "google/efficientnet-b0",  # images, 1280 features; fine-tuned for soft labels
    "dinov2": "facebook/dinov2-base",  # images, 768 features
    "sentence": "sentence-transformers/all-MiniLM-L6-v2",  # text, 384 features
}
