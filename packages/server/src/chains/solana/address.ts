import { base58 } from '@scure/base';

export const ADDRESS_PATTERN = '[1-9A-HJ-NP-Za-km-z]{32,44}';

const ADDRESS = new RegExp(`^${ADDRESS_PATTERN}$`);

export const isSolanaKey = (text: string): boolean => ADDRESS.test(text) && base58.decode(text).length === 32;
