export { type FakeProgram, type ProgramSettings, writeProgram } from "./program.ts";
export { type FakeSignal, type SignalOptions, startSignal } from "./server.ts";
export type { Group, Person, SayMore } from "./world.ts";
