import { describeType, isNumber, isText, type Type } from './types.ts';

export const isComparable = (type: Type): boolean =>
  isNumber(type) || isText(type) || type.kind === 'bool' || type.kind === 'timestamp' || type.kind === 'any';

/** Whether two values of these types have an equality. Lists, maps and structs have none (protocol/policies 4.1). */
export function canEqual(left: Type, right: Type): boolean {
  if (left.kind === 'any') return isComparable(right) && right.kind !== 'timestamp';
  if (right.kind === 'any') return isComparable(left) && left.kind !== 'timestamp';
  if (isNumber(left)) return isNumber(right);
  if (isText(left)) return isText(right);
  return left.kind === right.kind && (left.kind === 'bool' || left.kind === 'timestamp');
}

/** Whether values of this type could as well come from decoded data: structs and instants never do. */
export function fitsAny(type: Type): boolean {
  if (type.kind === 'list' || type.kind === 'map') return fitsAny(type.of);
  return type.kind !== 'struct' && type.kind !== 'timestamp';
}

/**
 * Two fields of EIP-7702 are shown both as numbers and quoted, so both spellings are accepted (protocol/policies 5.4).
 */
export const canEqualLoosely = (left: Type, right: Type): boolean =>
  (left.kind === 'looseNumber' && isText(right)) || (right.kind === 'looseNumber' && isText(left));

/** Whether values of these types are before or after each other; strings never are. */
export function canOrder(left: Type, right: Type): boolean {
  if (left.kind === 'timestamp' || right.kind === 'timestamp') return left.kind === right.kind;
  const fits = (type: Type) => isNumber(type) || type.kind === 'any';
  return fits(left) && fits(right);
}

export function explainMismatch(operator: string, left: Type, right: Type): string {
  const found = `${describeType(left)} and ${describeType(right)}`;
  if (operator === '==' || operator === '!=') {
    const hint =
      isNumber(left) !== isNumber(right) && isText(left) !== isText(right) ? ' (numbers have no quotes)' : '';
    return `${operator} compares two numbers, two strings, two bools or two timestamps, found ${found}${hint}`;
  }
  return `${operator} orders two numbers or two timestamps, found ${found}`;
}
