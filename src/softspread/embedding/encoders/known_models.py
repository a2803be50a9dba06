"""Short names of models on the Hugging Face hub."""

KNOWN = {
    "clip": "openai/clip-vit-base-patch32",  # images and text, 512 features; the paper's
    "vit": "google/vit-base-patch32-224-in21k",  # images, 768 features
    "resnet": "microsoft/resnet-101",  # images, 2048 features
    "dinov2": "facebook/dinov2-base",  # images, 768 features
    "sentence": "sentence-transformers/all-MiniLM-L6-v2",  # text, 384 features
}
