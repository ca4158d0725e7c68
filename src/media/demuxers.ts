/** How ffmpeg reads a type. Naming it keeps a playlist or a script that pretends to be a film from being read as what it is. */
export const DEMUXERS: Readonly<Record<string, string>> = {
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "audio/mp4": "mov",
  "audio/x-m4a": "mov",
  "audio/aac": "aac",
  "audio/flac": "flac",
  "audio/wav": "wav",
  "audio/amr": "amr",
  "audio/x-caf": "caf",
  "audio/webm": "matroska",
  "video/mp4": "mov",
  "video/quicktime": "mov",
  "video/3gpp": "mov",
  "video/webm": "matroska",
  "video/x-matroska": "matroska",
  "video/x-msvideo": "avi",
};
