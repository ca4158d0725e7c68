/**
 * Intake, access gate, lanes, commands and directives, reply shaping, delivery.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
