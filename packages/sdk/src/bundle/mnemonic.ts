const WORD_COUNTS = [12, 15, 18, 21, 24];

/** BIP-39: the number of words. Whether the words are of some list is for the service to say. */
export const hasMnemonicLength = (phrase: string): boolean => WORD_COUNTS.includes(phrase.split(' ').length);
