/** Arguments of Node that run this program once more; one that runs from text (`node -e`) has no file. */
export function ownArguments(): readonly string[] {
  const isText = process.execArgv.some((arg) => arg === "-e" || arg === "--eval");
  return [...process.execArgv, ...(isText ? ["--"] : process.argv.slice(1, 2))];
}
