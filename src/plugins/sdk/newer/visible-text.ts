/** What of a model's text people are shown. */

const HIDDEN = /<(think|thinking|thought|antthinking|reasoning|final_thought)\b[^>]*>[\s\S]*?(?:<\/\1>|$)/gi;
const CALLS = /<(tool_call|tool_calls|function_calls?|invoke|tool_result)\b[^>]*>[\s\S]*?(?:<\/\1>|$)/gi;
const TAGS = /<\/?(?:final|think|thinking|thought|antthinking|reasoning|relevant[-_]memories)\b[^>]*>/gi;

/** Applies `change` to everything but code. */
function outsideCode(text: string, change: (part: string) => string): string {
  return text
    .split(/(^ {0,3}(?:`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}(?:`{3,}|~{3,})[^\S\n]*$|(?![\s\S]))|`[^`\n]+`)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join("");
}

export const stripReasoningTagsFromText = (text: string): string => outsideCode(text, (part) => part.replaceAll(HIDDEN, "").replaceAll(TAGS, ""));
export const stripToolCallXmlTags = (text: string): string => outsideCode(text, (part) => part.replaceAll(CALLS, ""));

/** Without reasoning and calls of tools that a model wrote into its text; code is left alone. */
export const sanitizeAssistantVisibleText = (text: string): string => stripToolCallXmlTags(stripReasoningTagsFromText(text)).trim();
