"""Generated from the OpenAPI document by scripts/generate-clients.mjs. Do not edit."""
