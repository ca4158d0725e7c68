export { buildRandomTempFilePath, withTempDownloadPath } from "../values/files.ts";
