import { z } from 'zod';
import { documented } from '../../openapi/operation.js';

export const docsOperation = documented({
  id: 'showReference',
  tag: 'Service',
  summary: 'This description, as a page',
  answers: { 200: { description: 'A page for people.', schema: z.string(), mediaType: 'text/html' } },
});

export const styleOperation = documented({
  id: 'showStyle',
  tag: 'Service',
  summary: 'The style sheet of the pages',
  answers: { 200: { description: 'A style sheet.', schema: z.string(), mediaType: 'text/css' } },
});
