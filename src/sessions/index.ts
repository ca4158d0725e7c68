/**
 * Session keys, entries, transcripts, reset and send policy, the view for the model.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
