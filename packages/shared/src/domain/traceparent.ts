/**
 * W3C Trace Context, with its trace id and its flags. Ids of zeros alone are invalid: a vendor's tracer would drop them.
 */
export const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
