"""What a person sees and does in a browser: JupyterLab is real, and so is Chromium."""
