import { defineTool } from "../../declaration.ts";
import { failedOutcome, textOutcome } from "../../tool.ts";
import { filesFor, missingParams, namedPath, PATH_PROPERTIES, resolvePath, textParam, type FileToolsDeps } from "./paths.ts";

/** Writes a whole file. An empty one too: that is what an empty text means. */
export const writeTool = defineTool<FileToolsDeps>({
  name: "write",
  groups: ["fs"],
  reach: {},
  promptLine: "create or replace a file",
  icon: "✍️",
  writesFiles: true,
  inSandbox: "allowed",
  overHttp: "never",
  label: "write",
  description: "Write a file. Creates it and its folders if they do not exist, replaces it if it does.",
  parameters: {
    type: "object",
    properties: { ...PATH_PROPERTIES, content: { type: "string", description: "The full new content" } },
    required: ["content"],
  },
  idempotent: true,
  paths: namedPath,
  run: (deps) => async (call) => {
    const { params, context } = call;
    const written = textParam(params, "path");
    const content = textParam(params, "content");
    if (!written?.trim() || content === undefined) {
      return failedOutcome(missingParams([...(written?.trim() ? [] : ["path"]), ...(content === undefined ? ["content"] : [])]));
    }
    await filesFor("write", call, deps).write(resolvePath(written, context, deps.home), content);
    return textOutcome(`Successfully wrote ${content.length} bytes to ${written}`);
  },
});
