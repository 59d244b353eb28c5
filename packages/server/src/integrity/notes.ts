import { createHmac } from 'node:crypto';

/**
 * What the database says of marks under one key, for processes on all machines. As the fact `integrity`: `active` once every
 * running process knows marks and rows get them, `required` once each row has one under this key. As the fact
 * `integrity_rotation`: `next` while processes are to learn the key, `marking` once all have and mark with it. Only who has
 * the key can write a note. It makes a process stricter and never less strict: what a machine requires is in its key ring.
 */
export interface IntegrityNotes {
  readonly active: string;
  readonly required: string;
  readonly next: string;
  readonly marking: string;
}

export function notesUnder(keyId: string, key: Uint8Array): IntegrityNotes {
  const note = (stage: keyof IntegrityNotes): string => {
    const tag = createHmac('sha256', key).update(`custos.integrity.note ${stage} ${keyId}`).digest('base64url');
    return `${stage} ${keyId} ${tag}`;
  };
  return { active: note('active'), required: note('required'), next: note('next'), marking: note('marking') };
}
