/** A text as the beginning of a sentence, or on its own. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
