import { formatAmount } from './amounts.ts';
import { type Context, isTokenAmount, isTokenRecipient, unitOf } from './context.ts';
import { sayKind, sayName, sayType } from './kinds.ts';
import type { Subject } from './subjects.ts';
import { instantWords } from './times.ts';
import { cut, shortAddress } from './wording.ts';

const SHOWN_MAX = 80;
const INTEGER = /^-?[0-9]+$/;

/** A literal or value that meets a subject, as somebody reads it: a name, an amount with its unit, a chain. */
export function sayValue(text: string, subject: Subject, context: Context): string {
  const { names } = context;
  switch (subject.form) {
    case 'kind':
      return `“${sayKind(text)}”`;
    case 'type':
      return `“${sayType(text)}”`;
    case 'name':
      return sayName(text.replace(/^CREDENTIAL_TYPE_/, ''));
    case 'thing':
      return cut(names.thing(text)?.name ?? text, SHOWN_MAX);
    case 'address':
      return sayAddress(text, context);
    case 'chainId':
      return names.chain(`eip155:${text}`) ?? `chain ${text}`;
    case 'caip2':
      return names.chain(text) ?? text;
    case 'coin':
    case 'gwei':
      return INTEGER.test(text) ? sayNumber(BigInt(text), subject, context) : text;
    case 'instant':
      return INTEGER.test(text) ? instantWords(BigInt(text)) : text;
    case 'argument':
      if (INTEGER.test(text)) return sayNumber(BigInt(text), subject, context);
      return isTokenRecipient(subject, context) || isAddress(text) ? sayAddress(text, context) : quoted(text);
    case 'number':
    case 'bool':
      return text;
    case 'text':
      if (isAddress(text)) return sayAddress(text, context);
      return INTEGER.test(text) || text === 'true' || text === 'false' ? text : quoted(text);
  }
}

export function sayNumber(value: bigint, subject: Subject, context: Context): string {
  const unit = unitOf(subject, context);
  if (unit !== undefined) return formatAmount(value, unit);
  return subject.form === 'coin' || isTokenAmount(subject, context)
    ? `${value} of the smallest unit`
    : formatAmount(value, undefined);
}

const isAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text);

const sayAddress = (text: string, { names, caip2 }: Context): string => {
  const token = caip2 === undefined ? undefined : names.token(caip2, text.toLowerCase());
  return cut(token?.symbol ?? names.address(text) ?? shortAddress(text), SHOWN_MAX);
};

const quoted = (text: string): string => (/^[A-Za-z0-9_.-]+$/.test(text) ? text : `“${cut(text, SHOWN_MAX)}”`);
