/** The host's commander, of which a CLI registrar gets a `Command`. */
export * from "commander";
