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
      'a backup needs a recipient to be encrypted to: give a recipient (age1…), which `age-keygen -o backup.key` makes and shows',
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
      'that is an identity, the secret that opens backups, not a recipient: `age-keygen -y FILE` shows the recipient of the identity in FILE. If others may have read what you typed, make a new one',
    );
  }
  try {
    encrypter.addRecipient(recipient);
  } catch {
    throw new StartError(
      `${printable(recipient)} is not a recipient that Custos can encrypt to: give an age recipient (age1…, 62 characters); SSH keys and recipients of plugins do not work`,
    );
  }
}

/** Never says what it was given. */
export function decrypterWith(identities: readonly string[]): Decrypter {
  if (identities.length === 0)
    throw new StartError(
      'a backup opens with the identity (AGE-SECRET-KEY-1…) of one of its recipients: name its file with --identity',
    );
  const decrypter = new Decrypter();
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity);
    } catch {
      throw new StartError(
        'this is not an age identity: a file that `age-keygen` wrote has one (AGE-SECRET-KEY-1…), besides comments',
      );
    }
  }
  return decrypter;
}
