import { expect, test } from 'vitest';
import { CustosError, errorOfAnswer } from './errors.ts';

test('an answer of the service becomes an error with all it says', () => {
  const violations = [{ field: 'parameters.users.0.userName', description: 'is required' }];
  const details = [
    { '@type': 'type.googleapis.com/errors.v1.ServiceErrorDetail', errorCode: 'REQUEST_INVALID' },
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations },
  ];
  const error = errorOfAnswer(400, JSON.stringify({ code: 3, message: 'no', details, errorCode: 'REQUEST_INVALID' }));
  expect(error).toBeInstanceOf(CustosError);
  expect(error).toMatchObject({
    name: 'CustosError',
    code: 'REQUEST_INVALID',
    grpcCode: 3,
    httpStatus: 400,
    message: 'no',
    details,
    violations,
  });
});

test('the code is also found in the details', () => {
  const body = { code: 5, message: 'gone', details: [{ errorCode: 'RESOURCE_NOT_FOUND' }] };
  expect(errorOfAnswer(404, JSON.stringify(body)).code).toBe('RESOURCE_NOT_FOUND');
});

test.each(['', 'null', '[]', '{"message":1}', '<html>'])('%j is not an answer of the service', (text) => {
  expect(errorOfAnswer(500, text)).toMatchObject({
    code: 'UNEXPECTED_ANSWER',
    httpStatus: 500,
    details: [],
    violations: [],
  });
});

test('malformed details do no harm', () => {
  const body = {
    code: 'x',
    message: 'm',
    details: [null, 1, { fieldViolations: [null, { field: 1 }] }],
    errorCode: 'INTERNAL',
  };
  expect(errorOfAnswer(500, JSON.stringify(body))).toMatchObject({
    code: 'INTERNAL',
    grpcCode: undefined,
    violations: [],
  });
});
