import Type from 'typebox';
import { textShape } from '../../operations/shapes/basic.ts';

export const KeyValueShape = Type.Object({ key: Type.Optional(textShape(255)), value: Type.Optional(textShape(4096)) });
