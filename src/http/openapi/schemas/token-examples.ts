import type { JsonObject } from '../../../domain/json.js';

export const cardRequestExample: JsonObject = {
  type: 'card',
  data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' },
  metadata: { customer: 'c-17' },
};

export const tokenExample: JsonObject = {
  id: 'f2d07b4a-5fd6-4dd0-93d9-2b5d5b0a3f4b',
  tenant_id: '1255abe4-56ce-48c5-926e-d06322349614',
  type: 'card',
  data: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
  mask: {
    number: '{{ data.number | reveal_last: 4 }}',
    expiration_month: '{{ data.expiration_month }}',
    expiration_year: '{{ data.expiration_year }}',
  },
  fingerprint: 'AfaVgHSmxkUUG1zVv3qrEqS5nneL3EBtpUEYFERzD9Ls',
  containers: ['/pci/high/'],
  metadata: { customer: 'c-17' },
  fingerprint_expression: '{{ data.number }}',
  created_by: '5dc3f473-b758-4380-b444-1bb2b9affc6a',
  created_at: '2026-01-31T12:00:00.000+00:00',
};
