const HEADING = /^(#{1,6})\s+(.+?)\s*#*\s*$/;

/** The named sections of a Markdown text, with their headings, in the order of the names. Case does not matter; what stands in a fence is no heading. */
export function sectionsOf(markdown: string, names: readonly string[]): readonly string[] {
  const lines = markdown.split(/\r?\n/);
  return names.flatMap((name) => {
    const own: string[] = [];
    let level = 0;
    let fenced = false;
    for (const line of lines) {
      const heading = fenced ? null : HEADING.exec(line);
      if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
      if (heading && level > 0 && heading[1]!.length <= level) break;
      if (heading && level === 0 && heading[2]!.toLowerCase() === name.trim().toLowerCase()) level = heading[1]!.length;
      if (level > 0) own.push(line);
    }
    const text = own.join("\n").trim();
    return text === "" ? [] : [text];
  });
}
