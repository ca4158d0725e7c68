/** True where keys write text, so that they are no shortcuts. */
export const isWriting = (target: EventTarget | undefined): boolean =>
  target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);
