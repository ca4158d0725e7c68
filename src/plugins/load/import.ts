/** Node's own `import`, kept in a file of its own so that a test runner does not put its own in the place of it. */
export const importModule = (url: string): Promise<Record<string, unknown>> => import(url) as Promise<Record<string, unknown>>;
