/** A failure as a node reports it: a code for machines and a text for people. */
export class HostError extends Error {
  override readonly name = "HostError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
