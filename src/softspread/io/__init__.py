"""Files in and out: embeddings and votes are read, soft labels are written, ids are kept throughout."""
