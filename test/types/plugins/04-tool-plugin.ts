import { Type } from "typebox";
import { defineToolPlugin } from "openclaw/plugin-sdk/tool-plugin";

export default defineToolPlugin<{ unit?: "c" | "f" }>({
  id: "weather",
  name: "Weather",
  description: "Looks up the weather.",
  tools: (tool) => [
    tool({
      name: "weather",
      description: "The weather in a town.",
      parameters: Type.Object({ town: Type.String() }),
      async execute({ town }, config, { signal }) {
        signal?.throwIfAborted();
        return { town: town.toUpperCase(), unit: config.unit ?? "c" };
      },
    }),
  ],
});
