/**
 * Discovery, manifests, enable state, loader, registry, install; the public SDK.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
