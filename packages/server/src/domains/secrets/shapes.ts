import Type from 'typebox';
import { textShape } from '../../lib/shapes.ts';

export const KeyValueShape = Type.Object({ key: Type.Optional(textShape(255)), value: Type.Optional(textShape(4096)) });
