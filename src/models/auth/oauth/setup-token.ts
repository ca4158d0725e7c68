const PREFIX = "sk-ant-oat01-";
const SHORTEST = 80;

/** What is wrong with a setup-token, without repeating it; undefined when it is well-formed. */
export function setupTokenProblem(pasted: string): string | undefined {
  if (!pasted.startsWith(PREFIX)) return `expected a token that begins with ${PREFIX}; make one with: claude setup-token`;
  if (pasted.length < SHORTEST) return `expected a token of at least ${SHORTEST} characters, got ${pasted.length}: it was cut off; copy it whole`;
  return undefined;
}
