export { compileCheck, refuseLargeJson, type Check } from './check.js';
export { didYouMean } from './did-you-mean.js';
export { HttpError, Issues, fail, failValidation, refuse, type IssueSink, type Mistakes } from './errors.js';
export { MAX_PARTS, decodeUtf8, parseJson } from './json.js';
export { cutToBytes } from './cut-text.js';
