import type { CreateMfaPolicyParameters, GetMfaPoliciesResponse } from '@custos/sdk';
import { listInWords } from '../../../lib/text.ts';

export type MfaPolicy = GetMfaPoliciesResponse['mfaPolicies'][number];
export type Steps = CreateMfaPolicyParameters['requiredAuthenticationMethods'];
export type Method = Steps[number]['any'][number];
export type MethodType = Method['type'];

export const METHODS: Readonly<Record<MethodType, string>> = {
  AUTHENTICATION_TYPE_PASSKEY: 'a passkey',
  AUTHENTICATION_TYPE_API_KEY: 'an API key',
  AUTHENTICATION_TYPE_EMAIL_OTP: 'a code by mail',
  AUTHENTICATION_TYPE_SMS_OTP: 'a code by SMS',
  AUTHENTICATION_TYPE_OAUTH: 'a login with OAuth',
  AUTHENTICATION_TYPE_SESSION: 'a session',
};
export const METHOD_TYPES = Object.keys(METHODS) as readonly MethodType[];

/** "A passkey, then a code by mail or an API key". */
export function stepsInWords(steps: Steps): string {
  const text = steps
    .map(({ any }) =>
      listInWords(
        any.map(({ type, id }) => `${METHODS[type]}${id === undefined ? '' : ' (one of them)'}`),
        'or',
      ),
    )
    .join(', then ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Switches a method of a step. Methods that name a credential stay as they are. */
export const toggled = (steps: Steps, index: number, type: MethodType, isOn: boolean): Steps =>
  steps.map((step, at) => {
    if (at !== index) return step;
    const others = step.any.filter((method) => method.type !== type);
    return { any: isOn ? [...others, { type }] : others };
  });
