// Generated from the OpenAPI document by scripts/generate-clients.mjs. Do not edit.
export interface paths {
    "/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens
         * @description Returns the tokens that match all filters, newest first. If `id` or `type` is repeated, any of its values matches. Metadata values are compared as a whole, regardless of case. Any other parameter that begins with `metadata` returns 400.
         *
         *     Permission: `token:read`.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create a token
         * @description Stores a value and returns the token that stands for it. If deduplication applies and a live token has the same fingerprint, that token is returned instead, and `_extras.deduplicated` is true.
         *
         *     Permission: `token:create`.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search tokens
         * @description A query consists of `field:value` terms, joined by AND, OR, NOT (also `!` and `-`) and parentheses. Fields: id, type, data, fingerprint, container, metadata.<key>, created_by, created_at, modified_by, modified_at. An empty query finds every token that the caller may see.
         *
         *     Permission: `token:search`.
         */
        post: operations["searchTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens with a cursor
         * @description Returns the tokens that match all filters, newest first. A client that follows `next` from page to page gets every token that exists throughout exactly once, regardless of what is created or deleted in the meantime.
         *
         *     Permission: `token:read`.
         */
        get: operations["listTokensV2"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/tokens/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search tokens with a cursor
         * @description Accepts the same queries as `POST /tokens/search`. A client that follows `next` from page to page gets no token twice and misses none.
         *
         *     Permission: `token:search`.
         */
        post: operations["searchTokensV2"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/search/suggestions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Complete a term of a query
         * @description Returns the fields, types, metadata keys and containers that begin with a prefix, or the closest matches if none do. After `type:`, `container:` or `metadata.`, it returns only suggestions of that kind. Metadata keys and containers may be up to ten minutes out of date. A caller that may not search all containers gets the containers of its own rules instead.
         *
         *     Permission: `token:search`.
         */
        get: operations["searchSuggestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a token
         * @description Returns the token as the caller may see it: revealed, masked, or redacted (without `data`).
         *
         *     Permission: `token:read`.
         */
        get: operations["getToken"];
        put?: never;
        post?: never;
        /**
         * Delete a token
         * @description Deletes and erases the token. A 204 means that its keys have been destroyed. After a 503, send the same request again to finish the deletion.
         *
         *     Permission: `token:delete`.
         */
        delete: operations["deleteToken"];
        options?: never;
        head?: never;
        /**
         * Update a token
         * @description Applies a JSON merge patch (RFC 7386) to `data`, `mask` and `metadata`, and replaces the other fields. Null resets `mask`, `containers`, `search_indexes` and `fingerprint_expression` to the defaults of the type, clears `metadata`, and removes `expires_at`. Replaced data is erased before the response is sent, unless the tenant sets `keep_superseded_data`.
         *
         *     Permission: `token:update`.
         */
        patch: operations["updateToken"];
        trace?: never;
    };
    "/tokens/{id}/cvc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Purge the verification code of a card
         * @description Deletes the verification code immediately. Use this operation right after an authorization. It succeeds even if no code is stored.
         *
         *     Permission: `token:update`.
         */
        delete: operations["purgeCvc"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokenize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace values in any JSON with tokens
         * @description Replaces each object that has `type` and `data` with the token that it creates, and each other string, number and boolean with the id of a new token. One request creates at most 100 tokens, either all or none.
         *
         *     Permission: `token:create`.
         */
        post: operations["tokenize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/detokenize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace tokens in any JSON with their values
         * @description Replaces expressions in the strings of the body: `{{ <id> }}` with what the caller may see of the token, `{{ <id> | <filters> }}` with the result of applying the filters to that, and `{{ token: <id> }}` with the token object, which has `enrichments` for cards. A request can name at most 100 ids.
         *
         *     Permission: `token:use`.
         */
        post: operations["detokenize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete many tokens by id or by query
         * @description Deletes the tokens that `ids` lists or that `query` finds. `query` also requires `token:search`. One call deletes up to 1,000 tokens and destroys their keys before it responds. Repeat a call with a query until `remaining` is 0.
         *
         *     Permission: `token:delete`.
         */
        post: operations["deleteTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the access log
         * @description Returns who did what, newest first, but never the data. Without `start_date`, it covers the last 24 hours. Entries at `start_date` are included, and entries at `end_date` are not. Entries become visible within one second and are kept for 13 months.
         *
         *     Permission: `log:read`.
         */
        get: operations["listLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the signed checkpoints of the event log
         * @description Returns one checkpoint per hour, newest first. Keep copies elsewhere and verify them with the public key. Each checkpoint covers the vault’s whole log, which all tenants share, but reveals nothing about its contents.
         *
         *     Permission: `log:read`.
         */
        get: operations["listCheckpoints"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the history of a token
         * @description Returns the events of the token, newest first and without values, even after the token was deleted. With `log:read`, it covers all lives of the id. Otherwise, it covers the current life or, after a deletion, the last life if the caller has `token:read` on `/`.
         *
         *     Permission: `log:read` or `token:read`.
         */
        get: operations["tokenHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List applications
         * @description Returns the tenant’s live applications that match all filters, newest first.
         *
         *     Permission: `application:read`.
         */
        get: operations["listApplications"];
        put?: never;
        /**
         * Create an application
         * @description Creates an application and its first key, which only this response shows. To create a management application, the caller must itself hold every permission that the new application gets.
         *
         *     Permission: `application:create`.
         */
        post: operations["createApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the calling application
         * @description Returns the application that the request’s API key belongs to.
         *
         *     Requires a valid key but no permission.
         */
        get: operations["getOwnApplication"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an application
         * @description Returns the application, without its keys.
         *
         *     Permission: `application:read`.
         */
        get: operations["getApplication"];
        /**
         * Update an application
         * @description Changes the name, the permissions or rules, and the expiry. The change takes effect for all of the application’s keys before the response is sent.
         *
         *     Permission: `application:update`.
         */
        put: operations["updateApplication"];
        post?: never;
        /**
         * Delete an application
         * @description Deletes the application. Its keys stop working immediately.
         *
         *     Permission: `application:delete`.
         */
        delete: operations["deleteApplication"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{id}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys of an application
         * @description Returns the live keys of the application, without the keys themselves.
         *
         *     Permission: `application:read`.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Issue a key
         * @description Issues another key for an application. Only this response shows the key. An application can have at most three live keys.
         *
         *     Permission: `application:create`.
         */
        post: operations["issueKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{id}/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description Revokes the key. It stops working immediately.
         *
         *     Permission: `application:delete`.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List permissions
         * @description Returns all permissions, or only those that an application of one of the given types may hold.
         *
         *     Requires a valid key but no permission.
         */
        get: operations["listPermissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tenants/self": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the tenant
         * @description Returns the tenant of the calling application, with its settings.
         *
         *     Permission: `tenant:read`.
         */
        get: operations["getTenant"];
        /**
         * Update the tenant
         * @description Changes the name and the given settings. Other settings stay the same. If `show_fingerprints` is "true", get, list, search and detokenize show the fingerprints of tokens even to callers that see the tokens masked or redacted. Equal values have equal fingerprints, so such a caller can find a hidden value by trying candidates if it may also create tokens. No guess budget limits the attempts. `_warnings` contains a warning while the setting is on.
         *
         *     Permission: `tenant:update`.
         */
        put: operations["updateTenant"];
        post?: never;
        /**
         * Delete the tenant
         * @description Destroys all of the tenant’s keys, so none of its tokens can ever be decrypted again. The body must repeat the tenant’s name. After a 503, send the same request again to finish the deletion.
         *
         *     Permission: `tenant:delete`.
         */
        delete: operations["deleteTenant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tenants/self/reports/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the usage report
         * @description Returns the number of live tokens that the tenant has.
         *
         *     Permission: `report:read`.
         */
        get: operations["usageReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Returns the tenant’s webhooks, newest first, without their secrets.
         *
         *     Permission: `webhook:read`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Creates a webhook, which receives every matching event from then on. Only this response shows its secret. A tenant can have at most ten webhooks.
         *
         *     Permission: `webhook:create`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook
         * @description Returns a webhook without its secrets.
         *
         *     Permission: `webhook:read`.
         */
        get: operations["getWebhook"];
        /**
         * Update a webhook
         * @description Replaces all fields of a webhook except its secrets. A change takes effect within seconds.
         *
         *     Permission: `webhook:update`.
         */
        put: operations["updateWebhook"];
        post?: never;
        /**
         * Delete a webhook
         * @description Deletes a webhook and drops its pending deliveries. A delivery that is in progress may still arrive.
         *
         *     Permission: `webhook:delete`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook
         * @description Creates a new secret, which only this response shows. Until the overlap ends, each delivery is also signed with the old secrets. At most three secrets sign each delivery.
         *
         *     Permission: `webhook:update`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test delivery
         * @description Sends an event of the type `webhook.test` and returns the outcome. If it is delivered, all deliveries that are waiting for their next attempt become due immediately. While 10 tests of the tenant are waiting for a response, further tests fail.
         *
         *     Permission: `webhook:update`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List delivery attempts
         * @description Returns the last 100 attempts and the last 200 deliveries that were abandoned (parked), newest first. Test deliveries are not listed.
         *
         *     Permission: `webhook:read`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether the process is running
         * @description Returns 200 as long as the process is running, regardless of the state of its stores.
         *
         *     Requires no key.
         */
        get: operations["isLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether the service accepts requests
         * @description Returns the state without reasons. The admin listener shows the reasons.
         *
         *     Requires no key.
         */
        get: operations["isReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/errors/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain a problem
         * @description Returns the page that the `type` of a problem links to.
         *
         *     Requires no key.
         */
        get: operations["explainError"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The API description in OpenAPI 3.1
         * @description Requires no key.
         */
        get: operations["describeService"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The API reference as a page
         * @description Requires no key.
         */
        get: operations["showReference"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/style.css": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The style sheet for the pages
         * @description Requires no key.
         */
        get: operations["showStyle"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/script.js": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The script for the reference
         * @description Requires no key.
         */
        get: operations["showScript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Why a request failed (RFC 9457). It never contains a value from the request. */
        Problem: {
            /** @description The path of a page on this service that explains this kind of problem. */
            type: string;
            /** @description A short human-readable title, the same for every problem of this kind. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /** @description A human-readable explanation of what happened and what to do. */
            detail: string;
            /** @description The trace id of the request, as `urn:trace:<id>`. */
            instance: string;
            /** @description A stable, machine-readable code for the kind of problem. */
            code: string;
            /** @description Messages for each invalid field, keyed by the JSON path of the field. Absent from other kinds of problems. */
            errors?: {
                [key: string]: string[];
            };
        };
        /** @description The position of a page among all items. */
        Pagination: {
            /** @description The number of items that match all filters and that the caller may see. */
            total_items: number;
            /** @description The number of this page. */
            page_number: number;
            /** @description The maximum number of items per page, as requested. */
            page_size: number;
            /** @description The number of pages. */
            total_pages: number;
        };
        /** @description What an application may do with the tokens in a container, and what it sees of their data. */
        AccessRule: {
            /** @description A human-readable description. Absent if the rule has none. */
            description?: string;
            /** @description Rules with a lower number are tried first. */
            priority: number;
            /** @description The container that the rule covers, including its children. In lower case, with `/` at both ends. */
            container: string;
            /**
             * @description What the caller sees of the data: all of it, the masked data, or nothing.
             * @enum {string}
             */
            transform: "redact" | "mask" | "reveal";
            /** @description What the caller may do with the tokens. */
            permissions: ("token:create" | "token:read" | "token:update" | "token:delete" | "token:search" | "token:use")[];
        };
        /** @description An application, without its keys. */
        Application: {
            /**
             * Format: uuid
             * @description The id of the application.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant of the application.
             */
            tenant_id: string;
            /** @description The human-readable name of the application. */
            name: string;
            /**
             * @description The type of the application. It determines which permissions the application may hold, and never changes.
             * @enum {string}
             */
            type: "private" | "public" | "management";
            /** @description What the application may do with every token. Absent if it has rules. */
            permissions?: ("token:create" | "token:read" | "token:update" | "token:delete" | "token:search" | "token:use" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "report:read" | "webhook:create" | "webhook:read" | "webhook:update" | "webhook:delete")[];
            /** @description What the application may do with which tokens. Absent if it has permissions. */
            rules?: components["schemas"]["AccessRule"][];
            /**
             * Format: date-time
             * @description When the keys of the application stop working. Absent if they never do.
             */
            expires_at?: string;
            /** @description Who created it. The id of an application, or `operator` for the command line. */
            created_by: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Who changed it last. The id of an application, or `operator` for the command line. Absent before the first change. */
            modified_by?: string;
            /**
             * Format: date-time
             * @description When it was last changed. Absent before the first change.
             */
            modified_at?: string;
        };
        /** @description A new application with its first key. */
        ApplicationWithKey: {
            /**
             * Format: uuid
             * @description The id of the application.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant of the application.
             */
            tenant_id: string;
            /** @description The human-readable name of the application. Absent only if a retry of the request may not show later changes. */
            name?: string;
            /**
             * @description The type of the application. It determines which permissions the application may hold, and never changes.
             * @enum {string}
             */
            type: "private" | "public" | "management";
            /** @description What the application may do with every token. Absent if it has rules. */
            permissions?: ("token:create" | "token:read" | "token:update" | "token:delete" | "token:search" | "token:use" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "report:read" | "webhook:create" | "webhook:read" | "webhook:update" | "webhook:delete")[];
            /** @description What the application may do with which tokens. Absent if it has permissions. */
            rules?: components["schemas"]["AccessRule"][];
            /**
             * Format: date-time
             * @description When the keys of the application stop working. Absent if they never do.
             */
            expires_at?: string;
            /** @description Who created it. The id of an application, or `operator` for the command line. */
            created_by: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Who changed it last. The id of an application, or `operator` for the command line. Absent before the first change. */
            modified_by?: string;
            /**
             * Format: date-time
             * @description When it was last changed. Absent before the first change.
             */
            modified_at?: string;
            /** @description The first API key. Only this response shows it. A retry with the same idempotency key does not. */
            key?: string;
        };
        /** @description A tenant with its settings. */
        Tenant: {
            /**
             * Format: uuid
             * @description The tenant’s id.
             */
            id: string;
            /** @description The human-readable name of the tenant. */
            name: string;
            /** @description The tenant’s settings. */
            settings: {
                /**
                 * @description Whether a create or update returns an equal token instead of storing the value again.
                 * @enum {string}
                 */
                deduplicate_tokens: "true" | "false";
                /**
                 * @description Whether the keys of replaced data, at most 10,000 for each token, are kept until the token is deleted.
                 * @enum {string}
                 */
                keep_superseded_data: "true" | "false";
                /**
                 * @description Whether callers without the transform `reveal` see the fingerprints of tokens. Equal values have equal fingerprints, so such a caller that may also create tokens can find hidden values by trying candidates.
                 * @enum {string}
                 */
                show_fingerprints: "true" | "false";
            };
            /** @description Who created it. The id of an application, or `operator` for the command line. */
            created_by: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Who changed it last. The id of an application, or `operator` for the command line. Absent before the first change. */
            modified_by?: string;
            /**
             * Format: date-time
             * @description When it was last changed. Absent before the first change.
             */
            modified_at?: string;
            /** @description Warnings about what the current settings expose. Absent if they expose nothing. */
            _warnings?: string[];
        };
        /** @description A live API key, without the key itself. */
        ApiKey: {
            /**
             * Format: uuid
             * @description The id of the key, which is not the key itself.
             */
            id: string;
            /** @description Who created it. The id of an application, or `operator` for the command line. */
            created_by: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the key was last used, to the minute. Absent before the first use.
             */
            last_used_at?: string;
        };
        /** @description A new API key. */
        IssuedApiKey: {
            /**
             * Format: uuid
             * @description The id of the key, which is not the key itself.
             */
            id: string;
            /** @description Who created it. The id of an application, or `operator` for the command line. */
            created_by: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description The API key itself. Only this response shows it. A retry with the same idempotency key does not. */
            key?: string;
        };
        /** @description The parts of a token that the caller may see. A create or update that is deduplicated onto a token that the caller may not read returns only its id, tenant, type, containers and `_extras`. It also returns the fingerprint if the request contained the value and, after an update, the times and authors. */
        Token: {
            /** @description The id of the token, unique in its tenant. */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns the token.
             */
            tenant_id: string;
            /**
             * @description The type of the token. It determines which data the token accepts.
             * @enum {string}
             */
            type: "token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number";
            /** @description The data as the caller may see it: as stored, or masked. Absent if the caller may see none of it. */
            data?: unknown;
            /** @description The mask: any JSON whose strings are expressions. Absent if the token has none. */
            mask?: unknown;
            /** @description Within a tenant, equal values of the same type have equal fingerprints. Get, list, search and detokenize show the fingerprint to callers with the transform `reveal`, or to every caller if the tenant sets `show_fingerprints`. A create or update also shows it if the request contained every value that the expression reads. */
            fingerprint?: string;
            /** @description The containers of the token, to which access rules apply. */
            containers: string[];
            /** @description Non-sensitive key-value pairs from the caller, which are never masked. Absent if the token has none. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Expressions whose values find the token in a search. Absent if the token has none. */
            search_indexes?: string[];
            /** @description The expression whose value is fingerprinted. Absent only in a deduplicated token that the caller may not read. */
            fingerprint_expression?: string;
            /** @description A keyed hash of the id, which identifies the token in the access log and in webhooks. Absent only in a deduplicated token that the caller may not read. */
            entity_ref?: string;
            /**
             * Format: date-time
             * @description When the token expires. Absent if it never does.
             */
            expires_at?: string;
            /**
             * Format: uuid
             * @description The application that created the token. Absent only in a deduplicated token that the caller may not read.
             */
            created_by?: string;
            /**
             * Format: date-time
             * @description When the token was created. Absent only in a deduplicated token that the caller may not read.
             */
            created_at?: string;
            /**
             * Format: uuid
             * @description The application that changed the token last. Absent before the first change.
             */
            modified_by?: string;
            /**
             * Format: date-time
             * @description When the token was last changed. Absent before the first change.
             */
            modified_at?: string;
            /** @description Remarks about this response, such as that the token already existed. Absent if there are none. */
            _extras?: {
                /**
                 * @description A live token with the same fingerprint already existed, and this is that token.
                 * @constant
                 */
                deduplicated?: true;
                /**
                 * @description The request contained a verification code, which was not stored because the token already existed.
                 * @constant
                 */
                cvc_ignored?: true;
                /**
                 * @description The masks of the other tokens in this response used up its mask budget, so this token shows no data. Get this token on its own.
                 * @constant
                 */
                mask_skipped?: true;
            };
        };
        /** @description A page of tokens. */
        TokenPage: {
            pagination: components["schemas"]["Pagination"];
            /** @description The tokens of this page, newest first. */
            data: components["schemas"]["Token"][];
        };
        /** @description A page of tokens, with the cursor for the next page. */
        TokenCursorPage: {
            /** @description The position of the page. */
            pagination: {
                /** @description The page size that was requested. A page may have fewer items. */
                page_size: number;
                /** @description The cursor to send as `start`. Null on the last page. */
                next: string | null;
            };
            /** @description The tokens, newest first. */
            data: components["schemas"]["Token"][];
        };
        /** @description A page of tokens that a search found. */
        FoundPage: {
            pagination: components["schemas"]["Pagination"];
            /** @description The tokens of this page, newest first. */
            data: components["schemas"]["Token"][];
            /** @description Suggested beginnings of terms, such as `metadata.customer`, `container:/pci/high/` or `type:card_number`. Present only if the search found nothing because a term names something that no token has. */
            _suggestions?: string[];
        };
        /** @description A signed checkpoint of the event log. */
        Checkpoint: {
            /**
             * Format: date-time
             * @description When the checkpoint was signed: at the beginning of an hour, or when the service first started in that hour.
             */
            time: string;
            /** @description The SHA-256 hash of the checkpoint, as 64 hexadecimal digits. The checkpoint contains the Merkle root of the log at that time. */
            hash: string;
            /** @description The SHA-256 hash of the public key in PEM format, as 64 hexadecimal digits. */
            signed_by: string;
            /** @description The Ed25519 signature of the hash, in base64. */
            signature: string;
        };
        /** @description An entry of the access log. */
        LogEntry: {
            /**
             * Format: uuid
             * @description The tenant of the entry.
             */
            tenant_id: string;
            /** @description Who performed the operation: the id of an application, `operator` (the command line, or an operator in the console) or `system`. */
            actor_id: string;
            /**
             * @description The kind of actor.
             * @enum {string}
             */
            actor_type: "application" | "operator" | "system";
            /** @description The id of the API key that was used. Absent if no key was used. */
            key_id?: string;
            /** @description The address that the request came from. Absent if no request caused the entry. */
            source_address?: string;
            /** @description The kind of entity: token, application, key, tenant, report, log, service or webhook. */
            entity_type: string;
            /** @description The id of the entity. The id of a token is present only while the token is live, and in responses that are filtered by that id. */
            entity_id?: string;
            /** @description A keyed hash of the id. Absent if there is no id. */
            entity_ref?: string;
            /** @description The operation: create, read, reveal, update, delete, expiry, purge, start, stop, rotation, sign_in, sign_out or loss. */
            operation: string;
            /**
             * @description The outcome of the operation.
             * @enum {string}
             */
            outcome: "success" | "denied" | "failed";
            /** @description A human-readable message. It never contains data. */
            message: string;
            /** @description The trace id of the request. Absent if no request caused the entry. */
            trace_id?: string;
            /** @description The person who made the request, as stated by the console or the application. Absent if no person was stated. */
            person?: string;
            /** @description The identity provider that stated the name. Absent if the person or the application stated it. */
            person_issuer?: string;
            /** @description The reason for the request. Absent if no reason was given. */
            reason?: string;
            /**
             * Format: date-time
             * @description When the operation was performed.
             */
            created_at: string;
        };
        /** @description A permission that an application may hold. */
        Permission: {
            /**
             * @description The name of the permission.
             * @enum {string}
             */
            type: "token:create" | "token:read" | "token:update" | "token:delete" | "token:search" | "token:use" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "report:read" | "webhook:create" | "webhook:read" | "webhook:update" | "webhook:delete";
            /** @description A human-readable description of what the permission allows. */
            description: string;
            /** @description The application types that may hold the permission. */
            application_types: ("private" | "public" | "management")[];
        };
        /** @description Completions for a term of a query. */
        SearchSuggestions: {
            /** @description The suggestions, best first. */
            suggestions: {
                /** @description The text that replaces the prefix. */
                text: string;
                /**
                 * @description What the text names.
                 * @enum {string}
                 */
                kind: "field" | "type" | "metadata_key" | "container";
            }[];
        };
        /** @description How much the tenant stores. */
        UsageReport: {
            /** @description The tenant’s tokens. */
            token_report: {
                /** @description The number of live tokens. */
                tokens_total: number;
                /** @description The number of live tokens of each type. Types without tokens are absent. */
                tokens_by_type: {
                    [key: string]: number;
                };
            };
        };
        /** @description An event of a token, without values. */
        HistoryEntry: {
            /**
             * @description What happened to the token.
             * @enum {string}
             */
            type: "token.created" | "token.updated" | "token.deleted" | "token.expired" | "token.property.expired";
            /** @description The revision of the token after the event. */
            revision: number;
            /** @description The id of an application, or `system` if no request caused the event. */
            actor_id: string;
            /** @description The trace id of the request. Absent if no request caused the event. */
            trace_id?: string;
            /** @description The person who made the request, as stated by the console or the application. Present only for callers with `log:read`. */
            person?: string;
            /** @description The identity provider that stated the name. Absent if the person or the application stated it. */
            person_issuer?: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The names of the fields that changed. Never their values. */
            changed: string[];
            /** @description The number of the life of the id that the event belongs to, starting at 1. Present only for callers with `log:read`. */
            life?: number;
        };
        /** @description A webhook, without its secrets. */
        Webhook: {
            /**
             * Format: uuid
             * @description The id of the webhook.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant of the webhook.
             */
            tenant_id: string;
            /** @description The URL that deliveries are posted to. */
            url: string;
            /** @description A human-readable description. Absent if the webhook has no description. */
            description?: string;
            /** @description Whether events are delivered. */
            enabled: boolean;
            /** @description The events that are delivered. */
            event_types: ("token.created" | "token.updated" | "token.deleted" | "token.expired" | "token.property.expired" | "application.created" | "application.updated" | "application.deleted" | "application.key.issued" | "application.key.revoked" | "access.denied")[];
            /** @description Of the token.* events, delivers only those of tokens of these types. Absent if all types are delivered. */
            token_types?: ("token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number")[];
            /** @description Of the token.* events, delivers only those of tokens in these containers or their sub-containers. Absent if the events of tokens in all containers are delivered. */
            containers?: string[];
            /**
             * Format: date-time
             * @description The time until which deliveries are also signed with older secrets. Absent if there is only one secret.
             */
            old_secrets_end_at?: string;
            /** @description Who created it. The id of an application, or `operator` for the command line. */
            created_by: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Who changed it last. The id of an application, or `operator` for the command line. Absent before the first change. */
            modified_by?: string;
            /**
             * Format: date-time
             * @description When it was last changed. Absent before the first change.
             */
            modified_at?: string;
        };
        /** @description A webhook with its new secret. */
        WebhookWithSecret: {
            /**
             * Format: uuid
             * @description The id of the webhook.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant of the webhook.
             */
            tenant_id: string;
            /** @description The URL that deliveries are posted to. */
            url: string;
            /** @description A human-readable description. Absent if the webhook has no description. */
            description?: string;
            /** @description Whether events are delivered. */
            enabled: boolean;
            /** @description The events that are delivered. */
            event_types: ("token.created" | "token.updated" | "token.deleted" | "token.expired" | "token.property.expired" | "application.created" | "application.updated" | "application.deleted" | "application.key.issued" | "application.key.revoked" | "access.denied")[];
            /** @description Of the token.* events, delivers only those of tokens of these types. Absent if all types are delivered. */
            token_types?: ("token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number")[];
            /** @description Of the token.* events, delivers only those of tokens in these containers or their sub-containers. Absent if the events of tokens in all containers are delivered. */
            containers?: string[];
            /**
             * Format: date-time
             * @description The time until which deliveries are also signed with older secrets. Absent if there is only one secret.
             */
            old_secrets_end_at?: string;
            /** @description Who created it. The id of an application, or `operator` for the command line. */
            created_by: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Who changed it last. The id of an application, or `operator` for the command line. Absent before the first change. */
            modified_by?: string;
            /**
             * Format: date-time
             * @description When it was last changed. Absent before the first change.
             */
            modified_at?: string;
            /** @description The secret that deliveries are signed with, as Standard Webhooks specifies. Only this response shows it. */
            secret: string;
        };
        /** @description An attempt to deliver an event. */
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description The id of the event, which each attempt sends in the header `webhook-id`.
             */
            event_id: string;
            /** @description The type of the event. */
            event_type: string;
            /** @description The number of the attempt, from 1. */
            attempt: number;
            /**
             * @description The outcome of the attempt. `parked` means that it failed and was the last attempt.
             * @enum {string}
             */
            outcome: "delivered" | "failed" | "parked";
            /** @description The status of the response. Absent if there was none. */
            response_status?: number;
            /** @description Why the attempt failed, if the status does not explain it. */
            problem?: string;
            /** @description How long the request took, in milliseconds. */
            duration_ms: number;
            /**
             * Format: date-time
             * @description When the attempt was sent.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the next attempt is due. Absent if no attempt is due.
             */
            next_attempt_at?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listTokens: {
        parameters: {
            query?: {
                /** @description The page number. Default: 1. */
                page?: number;
                /** @description The maximum number of items per page. Default: 20. */
                size?: number;
                /** @description Returns only tokens with one of these ids. */
                id?: string[];
                /** @description Returns only tokens of these types. */
                type?: ("token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number")[];
                /** @description Filters by metadata. Each member is sent as a separate parameter, `metadata.<key>=<value>`, so the name of a member is `metadata.` followed by the key. The name of this object is not sent. */
                metadata_filter?: {
                    [key: string]: string;
                };
                /** @description The same filters as a JSON string: an object that maps metadata keys to values. */
                metadata?: string;
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tokens. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 characters. A retry with the same key within 24 hours returns the result of the first request. The header Idempotency-Key has the same effect. */
                "SERVICE-IDEMPOTENCY-KEY"?: string;
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The id: 3 to 400 characters, or an expression over `data`. Default: a random UUID. */
                    id?: string | null;
                    /**
                     * @description The type of the token. It determines which data the token accepts.
                     * @enum {string}
                     */
                    type: "token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number";
                    /** @description The value to store: any JSON except null that the type accepts. */
                    data: unknown;
                    /** @description The mask: any JSON whose strings are expressions over `data` and `metadata`. The default depends on the type. */
                    mask?: unknown;
                    /** @description 1 to 10 containers such as `/pci/high/`, stored in lower case. The default depends on the type. */
                    containers?: string[] | null;
                    /** @description Non-sensitive data: at most 50 keys of at most 100 characters, with values of at most 1,000. */
                    metadata?: {
                        [key: string]: string;
                    } | null;
                    /** @description At most 10 expressions over `data` whose values find the token in a search. The default depends on the type. */
                    search_indexes?: string[] | null;
                    /** @description One expression over `data` and `metadata` whose value is fingerprinted. The default depends on the type. */
                    fingerprint_expression?: string | null;
                    /** @description Whether this request deduplicates. Default: the tenant’s setting. */
                    deduplicate_token?: boolean | null;
                    /** @description When the token expires: ISO 8601, `M/D/YYYY` or `M/D/YYYY h:mm:ss AM`, with an offset such as `-05:00` or, without one, in UTC. Default: never. */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description The new token, or the existing token with the same fingerprint. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    searchTokens: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The search query. Without it, the search finds every token that the caller may see. */
                    query?: string | null;
                    /** @description The page number. Default: 1. */
                    page?: number | null;
                    /** @description The maximum number of items per page. Default: 20. */
                    size?: number | null;
                };
            };
        };
        responses: {
            /** @description A page of the tokens that the search found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundPage"];
                };
            };
        };
    };
    listTokensV2: {
        parameters: {
            query?: {
                /** @description Returns only tokens of this type. */
                type?: "token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number";
                /** @description Returns only tokens in this container, not in its children. */
                container?: string;
                /** @description Returns only tokens with this fingerprint. */
                fingerprint?: string;
                /** @description Filters by metadata. Each member is sent as a separate parameter, `metadata.<key>=<value>`, so the name of a member is `metadata.` followed by the key. The name of this object is not sent. */
                metadata_filter?: {
                    [key: string]: string;
                };
                /** @description The same filters as a JSON string: an object that maps metadata keys to values. */
                metadata?: string;
                /** @description The `next` cursor from the previous page of the same request. If absent, the first page is returned. */
                start?: string;
                /** @description The maximum number of items per page. Default: 20. */
                size?: number;
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tokens, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCursorPage"];
                };
            };
        };
    };
    searchTokensV2: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The search query. Without it, the search finds every token that the caller may see. */
                    query?: string | null;
                    /** @description The `next` cursor from the previous page of the same request. If absent, the first page is returned. */
                    start?: string | null;
                    /** @description The maximum number of items per page. Default: 20. */
                    size?: number | null;
                };
            };
        };
        responses: {
            /** @description A page of tokens, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCursorPage"];
                };
            };
        };
    };
    searchSuggestions: {
        parameters: {
            query?: {
                /** @description The beginning of a term, as typed so far. Default: empty. */
                prefix?: string;
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description At most 20 suggestions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchSuggestions"];
                };
            };
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`. Returns 304 if the token has this revision. */
                "If-None-Match"?: string;
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the token, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    deleteToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`. Returns 412 if the token has another revision. */
                "If-Match"?: string;
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the token, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token is erased. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 characters. A retry with the same key within 24 hours returns the result of the first request. The header Idempotency-Key has the same effect. */
                "SERVICE-IDEMPOTENCY-KEY"?: string;
                /** @description Entity tags, or `*`. Returns 412 if the token has another revision. */
                "If-Match"?: string;
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the token, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/merge-patch+json": {
                    /** @description The id of the token. It cannot be changed: any other id returns 400. */
                    id?: unknown;
                    /** @description The type of the token. It cannot be changed: any other type returns 400. */
                    type?: unknown;
                    /** @description A merge patch (RFC 7386) of the data. Data that it replaces is erased. */
                    data?: unknown;
                    /** @description The mask: any JSON whose strings are expressions over `data` and `metadata`. The default depends on the type. */
                    mask?: unknown;
                    /** @description 1 to 10 containers such as `/pci/high/`, stored in lower case. The default depends on the type. */
                    containers?: string[] | null;
                    /** @description Non-sensitive data: at most 50 keys of at most 100 characters, with values of at most 1,000. */
                    metadata?: {
                        [key: string]: string | null;
                    } | null;
                    /** @description At most 10 expressions over `data` whose values find the token in a search. The default depends on the type. */
                    search_indexes?: string[] | null;
                    /** @description One expression over `data` and `metadata` whose value is fingerprinted. The default depends on the type. */
                    fingerprint_expression?: string | null;
                    /** @description Whether this request deduplicates. Default: the tenant’s setting. */
                    deduplicate_token?: boolean | null;
                    /** @description When the token expires: ISO 8601, `M/D/YYYY` or `M/D/YYYY h:mm:ss AM`, with an offset such as `-05:00` or, without one, in UTC. Default: never. */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description The updated token or, with deduplication, the other token that already has the new fingerprint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    purgeCvc: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags, or `*`. Returns 412 if the token has another revision. */
                "If-Match"?: string;
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of a card token, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No verification code is stored for this card. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    tokenize: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 characters. A retry with the same key within 24 hours returns the result of the first request. The header Idempotency-Key has the same effect. */
                "SERVICE-IDEMPOTENCY-KEY"?: string;
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The same JSON with tokens in place of values. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    detokenize: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The same JSON with values in place of expressions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    deleteTokens: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A search query. Up to 1,000 of its tokens are deleted, newest first. Send either `query` or `ids`. */
                    query?: string | null;
                    /** @description The ids of up to 1000 tokens. Unknown ids are skipped. Send either `ids` or `query`. */
                    ids?: string[] | null;
                };
            };
        };
        responses: {
            /** @description The numbers of tokens that were deleted, were refused, and remain for the next call. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The number of tokens that this call deleted. */
                        deleted: number;
                        /** @description The number of tokens that the caller’s rules do not allow it to delete. */
                        refused: number;
                        /** @description The number of tokens that another call would delete. Repeat the call until it is 0. */
                        remaining: number;
                    };
                };
            };
        };
    };
    listLogs: {
        parameters: {
            query?: {
                /** @description The page number. Default: 1. */
                page?: number;
                /** @description The maximum number of items per page. Default: 20. */
                size?: number;
                /** @description Returns only entries about this kind of entity. */
                entity_type?: "token" | "application" | "key" | "tenant" | "report" | "log" | "service" | "webhook";
                /** @description Returns only entries about the entity with this id. */
                entity_id?: string;
                /** @description Returns only entries for this operation. */
                operation?: "create" | "read" | "reveal" | "update" | "delete" | "expiry" | "purge" | "start" | "stop" | "rotation" | "sign_in" | "sign_out" | "loss";
                /** @description Returns only entries at or after this date or date-time. Default: 24 hours ago. */
                start_date?: string;
                /** @description Returns only entries before this date or date-time. Default: no limit. */
                end_date?: string;
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pagination: components["schemas"]["Pagination"];
                        /** @description The items of this page, newest first. */
                        data: components["schemas"]["LogEntry"][];
                    };
                };
            };
        };
    };
    listCheckpoints: {
        parameters: {
            query?: {
                /** @description The page number. Default: 1. */
                page?: number;
                /** @description The maximum number of items per page. Default: 20. */
                size?: number;
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of checkpoints. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pagination: components["schemas"]["Pagination"];
                        /** @description The items of this page, newest first. */
                        data: components["schemas"]["Checkpoint"][];
                    };
                };
            };
        };
    };
    tokenHistory: {
        parameters: {
            query?: {
                /** @description The page number. Default: 1. */
                page?: number;
                /** @description The maximum number of items per page. Default: 20. */
                size?: number;
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the token, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pagination: components["schemas"]["Pagination"];
                        /** @description The items of this page, newest first. */
                        data: components["schemas"]["HistoryEntry"][];
                    };
                };
            };
        };
    };
    listApplications: {
        parameters: {
            query?: {
                /** @description The page number. Default: 1. */
                page?: number;
                /** @description The maximum number of items per page. Default: 20. */
                size?: number;
                /** @description Returns only applications with one of these ids. */
                id?: string[];
                /** @description Returns only applications of these types. */
                type?: ("private" | "public" | "management")[];
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of applications. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pagination: components["schemas"]["Pagination"];
                        /** @description The items of this page, newest first. */
                        data: components["schemas"]["Application"][];
                    };
                };
            };
        };
    };
    createApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 characters. A retry with the same key within 24 hours returns the result of the first request. The header Idempotency-Key has the same effect. */
                "SERVICE-IDEMPOTENCY-KEY"?: string;
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A human-readable name of 1 to 200 characters. */
                    name: string;
                    /**
                     * @description The type of the application. It determines which permissions the application may hold.
                     * @enum {string}
                     */
                    type: "private" | "public" | "management";
                    /** @description 1 to 50 permissions that the type may hold (`GET /permissions`). Send either `permissions` or `rules`. */
                    permissions?: string[] | null;
                    /** @description 1 to 50 access rules. Send either `rules` or `permissions`. */
                    rules?: {
                        /** @description A human-readable description. */
                        description?: string | null;
                        /**
                         * @description Rules with a lower number are tried first.
                         * @default 1
                         */
                        priority?: number | null;
                        /** @description The container that the rule covers, with its sub-containers, such as `/pci/`. */
                        container: string;
                        /**
                         * @description What the caller sees of the data.
                         * @enum {string}
                         */
                        transform: "redact" | "mask" | "reveal";
                        /** @description What the caller may do with the tokens. */
                        permissions: ("token:create" | "token:read" | "token:update" | "token:delete" | "token:search" | "token:use")[];
                    }[] | null;
                    /** @description When the keys of the application stop working, in any format that a token’s `expires_at` accepts. Null means never. */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description The application with its key. A retry with the same idempotency key does not show the key. If the application was changed since, a retry without `application:read` shows only what cannot change: `id`, `tenant_id`, `type`, `created_by` and `created_at`. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationWithKey"];
                };
            };
        };
    };
    getOwnApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The application. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
        };
    };
    getApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the application. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The application. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
        };
    };
    updateApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the application. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A human-readable name of 1 to 200 characters. */
                    name: string;
                    /** @description The type of the application. It cannot be changed: any other type returns 400. */
                    type?: unknown;
                    /** @description 1 to 50 permissions that the type may hold (`GET /permissions`). Send either `permissions` or `rules`. */
                    permissions?: string[] | null;
                    /** @description 1 to 50 access rules. Send either `rules` or `permissions`. */
                    rules?: {
                        /** @description A human-readable description. */
                        description?: string | null;
                        /**
                         * @description Rules with a lower number are tried first.
                         * @default 1
                         */
                        priority?: number | null;
                        /** @description The container that the rule covers, with its sub-containers, such as `/pci/`. */
                        container: string;
                        /**
                         * @description What the caller sees of the data.
                         * @enum {string}
                         */
                        transform: "redact" | "mask" | "reveal";
                        /** @description What the caller may do with the tokens. */
                        permissions: ("token:create" | "token:read" | "token:update" | "token:delete" | "token:search" | "token:use")[];
                    }[] | null;
                    /** @description When the keys of the application stop working, in any format that a token’s `expires_at` accepts. Null means never. */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description The updated application. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
        };
    };
    deleteApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the application. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The application is deleted, and its keys no longer work. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the application. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"][];
                };
            };
        };
    };
    issueKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 characters. A retry with the same key within 24 hours returns the result of the first request. The header Idempotency-Key has the same effect. */
                "SERVICE-IDEMPOTENCY-KEY"?: string;
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the application. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key. A retry with the same idempotency key does not show it. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedApiKey"];
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the application. */
                id: string;
                /** @description The id of the key, not the key itself. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key no longer works. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listPermissions: {
        parameters: {
            query?: {
                /** @description Returns only permissions that applications of these types may hold. */
                application_type?: ("private" | "public" | "management")[];
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The permissions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Permission"][];
                };
            };
        };
    };
    getTenant: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tenant. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    updateTenant: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A human-readable name of 1 to 200 characters. */
                    name: string;
                    /** @description `deduplicate_tokens`, `keep_superseded_data` and `show_fingerprints`. A setting that is absent stays the same. */
                    settings?: {
                        [key: string]: "true" | "false" | null;
                    } | null;
                };
            };
        };
        responses: {
            /** @description The updated tenant. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    deleteTenant: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The tenant’s name, as confirmation. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The tenant is deleted. Its tokens cannot be decrypted, and its API keys no longer work. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    usageReport: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReport"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description The page number. Default: 1. */
                page?: number;
                /** @description The maximum number of items per page. Default: 20. */
                size?: number;
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of webhooks. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pagination: components["schemas"]["Pagination"];
                        /** @description The items of this page, newest first. */
                        data: components["schemas"]["Webhook"][];
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The URL that deliveries are posted to: an https:// URL on the public internet, at most 2,000 characters long. */
                    url: string;
                    /** @description A human-readable description of at most 200 characters. */
                    description?: string | null;
                    /** @description Whether events are delivered. Default: true. Once enabled again, deliveries continue where they stopped. */
                    enabled?: boolean | null;
                    /** @description The events to deliver: one or more of token.created, token.updated, token.deleted, token.expired, token.property.expired, application.created, application.updated, application.deleted, application.key.issued, application.key.revoked, access.denied. */
                    event_types: string[];
                    /** @description Of the token.* events, delivers only those of tokens of these types: token, card, bank, card_number, us_bank_account_number, us_bank_routing_number, social_security_number, employer_id_number. Default: all. It does not filter other events. */
                    token_types?: string[] | null;
                    /** @description Of the token.* events, delivers only those of tokens in these containers (at most 10) or their sub-containers. Default: all. It does not filter other events. */
                    containers?: string[] | null;
                };
            };
        };
        responses: {
            /** @description The webhook with its secret. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The URL that deliveries are posted to: an https:// URL on the public internet, at most 2,000 characters long. */
                    url: string;
                    /** @description A human-readable description of at most 200 characters. */
                    description?: string | null;
                    /** @description Whether events are delivered. Default: true. Once enabled again, deliveries continue where they stopped. */
                    enabled?: boolean | null;
                    /** @description The events to deliver: one or more of token.created, token.updated, token.deleted, token.expired, token.property.expired, application.created, application.updated, application.deleted, application.key.issued, application.key.revoked, access.denied. */
                    event_types: string[];
                    /** @description Of the token.* events, delivers only those of tokens of these types: token, card, bank, card_number, us_bank_account_number, us_bank_routing_number, social_security_number, employer_id_number. Default: all. It does not filter other events. */
                    token_types?: string[] | null;
                    /** @description Of the token.* events, delivers only those of tokens in these containers (at most 10) or their sub-containers. Default: all. It does not filter other events. */
                    containers?: string[] | null;
                };
            };
        };
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description For how many seconds deliveries are also signed with the old secrets. Default: 86400 (one day). */
                    overlap_seconds?: number | null;
                };
            };
        };
        responses: {
            /** @description The webhook with its new secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The attempt. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description The page number. Default: 1. */
                page?: number;
                /** @description The maximum number of items per page. Default: 20. */
                size?: number;
                /** @description Returns only attempts with this outcome. */
                outcome?: "delivered" | "failed" | "parked";
            };
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
                /** @description The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8. */
                "SERVICE-PERSON"?: string;
                /** @description The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8. */
                "SERVICE-REASON"?: string;
            };
            path: {
                /** @description The id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of attempts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pagination: components["schemas"]["Pagination"];
                        /** @description The items of this page, newest first. */
                        data: components["schemas"]["WebhookDelivery"][];
                    };
                };
            };
        };
    };
    isLive: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is running. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description The process is running.
                         * @constant
                         */
                        status: "live";
                    };
                };
            };
        };
    };
    isReady: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service accepts requests. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description The service accepts requests.
                         * @constant
                         */
                        status: "ready";
                    };
                };
            };
        };
    };
    explainError: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
            };
            path: {
                /** @description The `code` of the problem. */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An HTML page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    describeService: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The version of OpenAPI. */
                        openapi: string;
                        /** @description The operations by path and method. */
                        paths: {
                            [key: string]: unknown;
                        };
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    showReference: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An HTML page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    showStyle: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A style sheet. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/css": string;
                };
            };
        };
    };
    showScript: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may contain a card number. */
                "SERVICE-TRACE-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A script. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/javascript": string;
                };
            };
        };
    };
}
