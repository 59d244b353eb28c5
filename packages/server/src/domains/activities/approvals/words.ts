import type { AuthenticationMethod, MfaRequirement } from '../../../core/model.ts';

/** More are not named one by one. */
const NAMED_MAX = 5;

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

const inWords = (count: number): string => NUMBERS[count] ?? String(count);

function listed(names: readonly string[], join: 'and' | 'or'): string {
  const shown = names.length > NAMED_MAX ? [...names.slice(0, NAMED_MAX - 1), others(names)] : names;
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} ${join} ${last}`;
}

const others = (names: readonly string[]): string => `${names.length - NAMED_MAX + 1} others`;

/** Who is missing, with the reader first. `lacking` is undefined where nobody can tell how many. */
export function missingText(lacking: number | undefined, anyone: boolean, names: readonly string[]): string {
  if (anyone) {
    return lacking === undefined || lacking < 2
      ? 'Missing: one more approval, by anybody'
      : `Missing: ${inWords(lacking)} more approvals, by anybody`;
  }
  if (names.length === 0) return 'Nobody else can approve this way';
  if (lacking === undefined) return `Missing: approval by ${listed(names, 'or')}`;
  if (names.length <= lacking) return `Missing: ${listed(names, 'and')}`;
  return lacking === 1
    ? `Missing: one of ${listed(names, 'or')}`
    : `Missing: ${inWords(lacking)} of ${listed(names, 'and')}`;
}

const METHODS: Readonly<Record<AuthenticationMethod['type'], string>> = {
  AUTHENTICATION_TYPE_EMAIL_OTP: 'a code by mail',
  AUTHENTICATION_TYPE_SMS_OTP: 'a code by SMS',
  AUTHENTICATION_TYPE_PASSKEY: 'a passkey',
  AUTHENTICATION_TYPE_API_KEY: 'an API key',
  AUTHENTICATION_TYPE_OAUTH: 'an OAuth identity',
  AUTHENTICATION_TYPE_SESSION: 'a session',
};

/** What the next step of a requirement asks for. */
export function factorText({ steps, proofs }: MfaRequirement, name: string): string {
  const next = steps[proofs.length];
  if (next === undefined) return '';
  const ways = listed([...new Set(next.any.map(({ type }) => METHODS[type]))], 'or');
  const verb = name === 'you' ? 'You have' : `${name} has`;
  return `${verb} to confirm with ${ways} (step ${proofs.length + 1} of ${steps.length})`;
}
