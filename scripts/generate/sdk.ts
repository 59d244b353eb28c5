import { activities, type operations, pathOf, queries, votes } from '@custos/server/registry';
import { ERROR_CODES } from '../../packages/server/src/lib/error-codes.ts';
import { ApiError, type ErrorCode } from '../../packages/server/src/lib/errors.ts';
import { toNode, withoutProperty } from '../../packages/server/src/reference/schema-node.ts';
import { SHARED_SHAPES, sharedNameOf } from '../../packages/server/src/reference/shared-shapes.ts';
import { methodName, typeName } from './names.ts';
import { printDeclaration } from './typescript.ts';

type Operation = (typeof operations)[number];

const HEADER = `// Written by \`npm run generate\` from the registry of the service. Do not edit.
import type { QueryOptions, SubmitOptions } from '../options.ts';
`;

/** packages/sdk/src/generated/operations.ts: types, the methods of the client, the table behind them, error codes. */
export function sdkOperations(): string {
  const all = [...activities, ...votes, ...queries].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    HEADER,
    ...Object.entries(SHARED_SHAPES).map(([name, schema]) => declare(name, schema)),
    ...all.flatMap(declareOperation),
    methods(all),
    table(all),
    errorCodes(),
  ].join('\n');
}

const declare = (name: string, schema: unknown, comment?: string): string =>
  printDeclaration(name, schema, sharedNameOf, comment);

function declareOperation(operation: Operation): string[] {
  const name = typeName(operation.name);
  const parameters = declare(`${name}Parameters`, parametersOf(operation), `Parameters of ${operation.name}.`);
  switch (operation.kind) {
    case 'activity':
      return [parameters, declare(`${name}Result`, operation.result, `Result of ${operation.name}.`)];
    case 'query':
      return [parameters, declare(`${name}Response`, operation.response, `Answer of ${operation.name}.`)];
    case 'vote':
      return [parameters];
  }
}

/** What a caller of the client's method passes; the client adds the organization itself. */
function parametersOf(operation: Operation): unknown {
  switch (operation.kind) {
    case 'activity':
      return operation.versions[0]?.schema;
    case 'query':
      return withoutProperty(toNode(operation.schema), 'organizationId');
    case 'vote':
      return operation.schema;
  }
}

function methods(all: readonly Operation[]): string {
  const lines = all.flatMap((operation) => {
    const name = typeName(operation.name);
    const isOptional = (toNode(parametersOf(operation)).required ?? []).length === 0;
    const options = operation.kind === 'query' ? 'QueryOptions' : 'SubmitOptions';
    const answer = {
      activity: `${name}Result & { activity: Activity }`,
      vote: '{ activity: Activity }',
      query: `${name}Response`,
    }[operation.kind];
    const parameters = `parameters${isOptional ? '?' : ''}: ${name}Parameters`;
    return [
      `  /** ${operation.summary} */`,
      ...signature(methodName(operation.name), [parameters, `options?: ${options}`], `Promise<${answer}>`),
    ];
  });
  return `/** One method per operation of the service. */\nexport interface OperationMethods {\n${lines.join('\n')}\n}\n`;
}

function signature(name: string, parameters: readonly string[], answer: string): string[] {
  const line = `  ${name}(${parameters.join(', ')}): ${answer};`;
  if (line.length <= 120) return [line];
  return [`  ${name}(`, ...parameters.map((parameter) => `    ${parameter},`), `  ): ${answer};`];
}

function table(all: readonly Operation[]): string {
  const entries = all.map((operation) => {
    const [current] = operation.kind === 'activity' ? operation.versions : [];
    const fields = {
      kind: operation.kind,
      name: operation.name,
      path: pathOf(operation),
      ...(operation.kind === 'vote' && { type: operation.type }),
      ...(current && { type: current.type, intentKey: current.intentKey, resultKey: current.resultKey }),
    };
    const lines = Object.entries(fields).map(([key, value]) => `    ${key}: '${value}',`);
    return `  ${methodName(operation.name)}: {\n${lines.join('\n')}\n  },`;
  });
  return `/** What the client needs to know of each operation, by the name of its method. */\nexport const OPERATIONS = {\n${entries.join('\n')}\n} as const;\n`;
}

function errorCodes(): string {
  const entries = (Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => {
    const { grpcCode, httpStatus } = new ApiError(code, '');
    return `  ${code}: { grpcCode: ${grpcCode}, httpStatus: ${httpStatus} },`;
  });
  return `/** Every error code of the service, with its gRPC number and HTTP status. */\nexport const ERROR_CODES = {\n${entries.join('\n')}\n} as const;\n`;
}
