import { Decrypter, Encrypter } from 'age-encryption';
import { printable } from '../../lib/printable.ts';
import { StartError } from '../../lib/start-error.ts';

const IDENTITY = /^AGE-SECRET-KEY-/i;

/** Recipients or identities as they stand in a file of age: one to a line, with comments. */
export const ageLines = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

export function encrypterFor(recipients: readonly string[]): Encrypter {
  if (recipients.length === 0) {
    throw new StartError(
      'a backup is encrypted to somebody: give a recipient (age1…), which `age-keygen -o backup.key` makes and shows',
    );
  }
  const encrypter = new Encrypter();
  for (const recipient of recipients) addRecipient(encrypter, recipient);
  return encrypter;
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  // Whatever it is, it is not repeated: it opens backups.
  if (IDENTITY.test(recipient)) {
    throw new StartError(
      'that is an identity, the secret that opens backups, and no recipient: `age-keygen -y FILE` shows the recipient of the identity in FILE. If others may have read what you typed, make a new one',
    );
  }
  try {
    encrypter.addRecipient(recipient);
  } catch {
    throw new StartError(
      `${printable(recipient)} is no recipient that Custos can encrypt to: it is one of age, as age1… with its 62 characters; SSH keys and those of plugins cannot be used`,
    );
  }
}

/** Never says what it was given. */
export function decrypterWith(identities: readonly string[]): Decrypter {
  if (identities.length === 0)
    throw new StartError(
      'a backup opens with the identity (AGE-SECRET-KEY-1…) of one of its recipients: give its file',
    );
  const decrypter = new Decrypter();
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity);
    } catch {
      throw new StartError(
        'what was given is no identity of age: a file of `age-keygen` has one as AGE-SECRET-KEY-1…, beside comments',
      );
    }
  }
  return decrypter;
}
