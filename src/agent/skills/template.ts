/** What a new skill begins with, and what of it its author has to replace. */
const TO_DESCRIBE = "Describe in one line when to use";
const TO_SAY = "Describe when this skill applies and what the result should be.";
const TO_REPLACE = 'echo "replace this"';

const quoted = (text: string): string => JSON.stringify(text.replaceAll(/\s+/g, " ").trim());

/** The `SKILL.md` of a new skill. */
export const skillTemplate = (name: string, description = `${TO_DESCRIBE} ${name}.`): string => `---
name: ${name}
description: ${quoted(description)}
metadata: { openclaw: { requires: { bins: [] } } }
---

# ${name}

${TO_SAY}

## Steps

1. First read what is there: files, settings, the user's request.
2. Do the work. Name the exact commands:

\`\`\`sh
${TO_REPLACE}
\`\`\`

3. Check the result and report it in one or two sentences.

## Notes

- List every program that the commands need in \`requires.bins\`, so that the skill is offered only where it works.
- Scripts go into \`scripts/\`; their paths begin with \`{baseDir}\`, the folder of this file.
`;

/** Lines of a skill that still are those of the template. */
export function templateLines(text: string): readonly { readonly line: number; readonly text: string }[] {
  return text.split("\n").flatMap((written, index) => {
    const found = [TO_DESCRIBE, TO_SAY, TO_REPLACE].find((mark) => written.includes(mark));
    return found === undefined ? [] : [{ line: index + 1, text: found }];
  });
}
