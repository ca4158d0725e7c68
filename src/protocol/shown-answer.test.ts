import { expect, test } from "vitest";
import { shownAnswer } from "./shown-answer.ts";

test("files of an answer are separated from its words; lines in code blocks stay", () => {
  expect(shownAnswer("Here it is:\n[[audio_as_voice]]\nMEDIA:/a/b c.wav \n  MEDIA: https://a.b/c.png\nDone.")).toEqual({
    text: "Here it is:\nDone.",
    files: ["/a/b c.wav", "https://a.b/c.png"],
  });
  const code = "Write\n```\nMEDIA:/a.wav\n```\nto send a file; MEDIA:/b.wav in a line sends none.";
  expect(shownAnswer(code)).toEqual({ text: code, files: [] });
  expect(shownAnswer("MEDIA:\nMEDIA: ")).toEqual({ text: "MEDIA:\nMEDIA: ", files: [] });
  expect(shownAnswer("MEDIA:/a\n".repeat(60)).files).toHaveLength(50);
});

test.each([
  ["[[reply_to_current]] Yes.", "Yes."],
  ["[[tts:voice=nova]] Hello [[tts:text]]for the ear[[/tts:text]] there.", "Hello  there."],
  ["[[tts:text]]Only for the ear[[/tts:text]]", "Only for the ear"],
  ["Wait [[tts:vo", "Wait"],
  ["Write `[[tts]]` or\n```\n[[tts:text]]x[[/tts:text]]\n```\nto be heard. [[tts]]", "Write `[[tts]]` or\n```\n[[tts:text]]x[[/tts:text]]\n```\nto be heard."],
  ["A matrix [[1, 2], [3, 4]] stays.", "A matrix [[1, 2], [3, 4]] stays."],
])("tags for channels and voices are not shown, except in code: %j", (answer, text) => expect(shownAnswer(answer)).toEqual({ text, files: [] }));
