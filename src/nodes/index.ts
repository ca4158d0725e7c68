/**
 * Devices with the role node: registry, invoke, canvas host.
 * The entry point of the module. Nothing is built here yet, so nothing is exported.
 */
export {};
