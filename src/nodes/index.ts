/**
 * Devices with the role node: registry, invoke, canvas host.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
