/** Defaults for showing, loaded when they are asked for: nothing that runs needs them. */
export const loadInEffect = (): Promise<typeof import("./in-effect.ts")> => import("./in-effect.ts");
