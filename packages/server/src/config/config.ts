import { isAbsolute, resolve } from 'node:path';
import { type KeyringPlace, keyringPlace, rootKeyIn } from './keyring-settings.ts';
import { readSetting } from './setting.ts';
import { SETTINGS, type Setting, SettingError } from './settings.ts';

type Parsed = { readonly [Key in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Key]['parse']> };

/** The checked configuration of one process. */
export interface Config extends Omit<Parsed, 'keyring' | 'rootKey'> {
  /** The keyring's root key, with the default filled in; of a keyring on a socket only where that is. */
  readonly rootKey: string;
  readonly keyring: KeyringPlace;
}

/** Reads the environment; throws SettingError with one clear sentence at the first thing that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const known = new Map<string, Setting<unknown>>(Object.values(SETTINGS).map((setting) => [setting.name, setting]));
  for (const name of Object.keys(environment)) {
    if (name.startsWith('CUSTOS_') && !known.has(name)) {
      throw new SettingError(`${name} is not a setting of this program${suggestion(name, [...known.keys()])}`);
    }
  }
  const parsed = Object.fromEntries(
    Object.entries(SETTINGS).map(([key, setting]) => [key, readSetting<unknown>(setting, environment)]),
  ) as Parsed;
  if (parsed.workers > 1 && parsed.databaseUrl === undefined) {
    throw new SettingError('CUSTOS_WORKERS above 1 needs CUSTOS_DATABASE_URL: the embedded database has one process');
  }
  if (parsed.workers > 1 && parsed.port === 0)
    throw new SettingError('CUSTOS_WORKERS above 1 needs a fixed CUSTOS_PORT');
  requireTogether(parsed);
  const dataDir = isAbsolute(parsed.dataDir) ? parsed.dataDir : resolve(parsed.dataDir);
  const keyring = keyringPlace(parsed.keyring, parsed.keyringKeyFile);
  if (typeof keyring === 'object' && parsed.rootKey !== undefined) {
    throw new SettingError('CUSTOS_ROOT_KEY is for the keyring alone where CUSTOS_KEYRING is a socket: unset it here');
  }
  const rootKey = typeof keyring === 'object' ? `socket:${keyring.path}` : rootKeyIn(dataDir, parsed.rootKey);
  return { ...parsed, dataDir, rootKey, keyring };
}

/** Settings that mean nothing alone: half a configuration would fail only when somebody waits for a message. */
function requireTogether({ smtpUrl, mailFrom, smsUrl, smsUser, smsPassword, smsFrom, ...rest }: Parsed): void {
  if (smtpUrl !== undefined && mailFrom === undefined) {
    throw new SettingError('CUSTOS_MAIL_FROM is needed with CUSTOS_SMTP_URL');
  }
  const sms = [smsUrl, smsUser, smsPassword, smsFrom];
  if (sms.some((value) => value !== undefined) && sms.includes(undefined)) {
    throw new SettingError('CUSTOS_SMS_URL, CUSTOS_SMS_USER, CUSTOS_SMS_PASSWORD and CUSTOS_SMS_FROM go together');
  }
  if ((rest.captchaSiteKey === undefined) !== (rest.captchaSecret === undefined)) {
    throw new SettingError('CUSTOS_CAPTCHA_SITE_KEY and CUSTOS_CAPTCHA_SECRET go together');
  }
  if (rest.otpSeconds > rest.otpSecondsMax) {
    throw new SettingError('CUSTOS_OTP_SECONDS must not be above CUSTOS_OTP_SECONDS_MAX');
  }
  if (rest.verificationSeconds > rest.verificationSecondsMax) {
    throw new SettingError('CUSTOS_VERIFICATION_SECONDS must not be above CUSTOS_VERIFICATION_SECONDS_MAX');
  }
}

function suggestion(name: string, known: readonly string[]): string {
  const stem = name.slice(0, 'CUSTOS_'.length + 4);
  const near = known.filter((candidate) => candidate.startsWith(stem));
  return near.length === 0 ? '' : ` (did you mean ${near.join(' or ')}?)`;
}
