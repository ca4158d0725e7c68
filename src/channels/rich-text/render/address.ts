/** URLs of links. */

/** The part before the first colon, in lower case. */
export const schemeOf = (href: string): string | undefined => /^([a-z][a-z0-9+.-]*):/i.exec(href)?.[1]?.toLowerCase();

const encoded = (text: string): string => {
  try {
    return encodeURI(decodeURI(text));
  } catch {
    return text;
  }
};

const bare = (address: string): string => encoded(address.trim().replace(/^(?:mailto|tel):/i, "")).replace(/\/$/, "");

/** Whether the text of a link already shows its URL. */
export const saysAddress = (label: string, href: string): boolean => label.trim() === href || bare(label) === bare(href);
