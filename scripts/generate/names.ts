/** `create_users` as a method of the client: `createUsers`. */
export const methodName = (operation: string): string =>
  operation.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

/** `create_users` as the beginning of a type's name: `CreateUsers`. */
export function typeName(operation: string): string {
  const method = methodName(operation);
  return method.charAt(0).toUpperCase() + method.slice(1);
}

/** `create_users` as the name of its file: `create-users`. */
export const fileName = (operation: string): string => operation.replaceAll('_', '-');
