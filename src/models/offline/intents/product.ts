import { createDocIndex, type DocIndex } from "../docs/search.ts";
import type { DocSection } from "../docs/pages.ts";
import { say } from "../reply.ts";
import type { Intent } from "../turn.ts";
import { INTRODUCTION } from "../words.ts";

const QUESTION =
  /\?\s*$|^(?:how|what|where|which|when|why|who|can|does|do|is|are|should|explain|describe|tell me|help(?: me)?(?: with)?|documentation|docs)\b/i;

/** Answers questions about the product with what its documentation says. */
export function createProductIntent(): Intent {
  const indexes = new WeakMap<readonly DocSection[], DocIndex>();
  return {
    name: "product",
    async begin({ plain, docs }) {
      if (plain === "" || !QUESTION.test(plain)) return undefined;
      const sections = await docs();
      let index = indexes.get(sections);
      if (!index) indexes.set(sections, (index = createDocIndex(sections)));
      const answer = index.find(plain);
      if (!answer) {
        const why = sections.length === 0 ? "The documentation is not beside this program" : "I found nothing about that in OpenClaw's documentation";
        return say(`${why}, and I know nothing else. ${INTRODUCTION} \`help\` lists what I can do and how to add a real model.`);
      }
      const { section, text } = answer;
      return say(`From the documentation (${section.page}, ${section.headings.join(" › ")}):\n\n${text}`);
    },
  };
}
