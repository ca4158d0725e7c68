export { buildRandomTempFilePath, withTempDownloadPath } from "../files.ts";
