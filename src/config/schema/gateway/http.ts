import { advanced, amount, count, flag, group, texts } from "../pieces.ts";

const fetched = {
  allowUrl: flag("Accept addresses, not only content."),
  urlAllowlist: texts("Hosts that addresses may point to; * is a wildcard."),
  allowedMimes: texts("Accepted MIME types."),
  maxBytes: count("Largest file."),
  maxRedirects: amount("Redirects followed."),
  timeoutMs: count("How long a download may take."),
};

const responses = group("POST /v1/responses.", {
  enabled: flag("Serve it."),
  maxBodyBytes: count("Largest request.", advanced),
  maxUrlParts: amount("Addresses fetched per request.", advanced),
  files: group(
    "Files in requests.",
    {
      ...fetched,
      maxChars: count("Longest text taken from a file."),
      pdf: group("PDF files.", {
        maxPages: count("Pages read."),
        maxPixels: count("Largest rendered page."),
        minTextChars: amount("Pages with less text are rendered as images."),
      }),
    },
    [],
    advanced,
  ),
  images: group("Images in requests.", fetched, [], advanced),
});

export const http = group("HTTP interfaces.", {
  endpoints: group("Switchable endpoints.", {
    chatCompletions: group("POST /v1/chat/completions.", { enabled: flag("Serve it.") }),
    responses,
  }),
});
