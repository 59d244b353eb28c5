// The address formats alone, for programs without keys of their own, pages in a browser among them: nothing here needs
// Node.js or loads more than hashes and encodings.

import type { Format } from './address/format.ts';
import { FORMATS } from './address/formats.ts';

export type { Format, PublicKey } from './address/format.ts';
export type { Curve } from './curve.ts';

export const ADDRESS_FORMAT_LIST: readonly Format[] = FORMATS;
