/**
 * Stored media: limits, types, expiry, download and upload.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
