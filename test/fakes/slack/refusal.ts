/** `ok: false` with this error. */
export class SlackRefusal extends Error {
  readonly more: object;

  constructor(error: string, more: object = {}) {
    super(error);
    this.more = more;
  }
}
