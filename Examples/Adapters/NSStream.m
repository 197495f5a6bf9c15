// NSStream with its delegate and run loop: the API used in Apple's socket stream samples, here on GNUstep.
// gcc -o nsstream Examples/Adapters/NSStream.m $(gnustep-config --objc-flags) $(gnustep-config --base-libs)
// On Apple systems (written for them, never compiled there): clang -framework Foundation -o nsstream Examples/Adapters/NSStream.m
#import <Foundation/Foundation.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void tell(NSString *event, NSNumber *conn, NSDictionary *fields) {
    NSMutableDictionary *message = [NSMutableDictionary dictionaryWithObjectsAndKeys:event, @"ev", conn, @"conn", nil];
    [message addEntriesFromDictionary:fields];
    NSData *json = [NSJSONSerialization dataWithJSONObject:message options:0 error:NULL];
    fwrite([json bytes], 1, [json length], stdout);
    putchar('\n');
    fflush(stdout);
}

static void say(NSString *event, NSNumber *conn, NSString *key, id value) {
    tell(event, conn, key ? [NSDictionary dictionaryWithObject:value forKey:key] : [NSDictionary dictionary]);
}

static NSString *text(NSData *bytes) {
    return [[[NSString alloc] initWithData:bytes encoding:NSISOLatin1StringEncoding] autorelease];
}

// Returns the name of the errno if the machine, not the peer, caused the error; nil otherwise.
static NSString *machine(NSError *error) {
    switch ([error code]) {
        case EADDRNOTAVAIL: return @"EADDRNOTAVAIL";
        case EMFILE: return @"EMFILE";
        case ENFILE: return @"ENFILE";
        case ENOBUFS: return @"ENOBUFS";
        case ENOMEM: return @"ENOMEM";
        default: return nil;
    }
}

static NSString *reason(NSError *error) {
    switch ([error code]) {
        case ECONNREFUSED: return @"refused";
        case ECONNRESET: return @"reset";
        case EPIPE: return @"broken-pipe";
        case ETIMEDOUT: return @"timeout";
        default: return @"other";
    }
}

#ifdef GNUSTEP
#define TLS ",\"tls\""

static BOOL isAddress(NSString *name) {
    struct in6_addr address;
    return inet_pton(AF_INET, [name UTF8String], &address) == 1 || inet_pton(AF_INET6, [name UTF8String], &address) == 1;
}

static NSString *priority(NSString *version) {
    NSString *versions = version ? [@"+VERS-TLS" stringByAppendingString:version] : @"+VERS-TLS1.2:+VERS-TLS1.3";
    return [@"NORMAL:-VERS-ALL:" stringByAppendingString:versions];
}

// GNUstep documents GSTLSCAFile for the user defaults and for a stream, but reads it only from the user defaults.
static void trust(NSString *file) {
    NSUserDefaults *defaults = [NSUserDefaults standardUserDefaults];
    [defaults registerDefaults:[NSDictionary dictionaryWithObject:file forKey:GSTLSCAFile]];
    [[NSNotificationCenter defaultCenter] postNotificationName:NSUserDefaultsDidChangeNotification object:defaults];
}

// GSTLSRemoteHosts, which should contain the host name, is not set, because GNUstep 1.28 refuses certificates that
// match the name and accepts all others.
static void secure(NSStream *stream, NSDictionary *tls) {
    NSString *name = [tls objectForKey:@"name"];
    trust([tls objectForKey:@"ca"]);
    [stream setProperty:NSStreamSocketSecurityLevelNegotiatedSSL forKey:NSStreamSocketSecurityLevelKey];
    [stream setProperty:@"YES" forKey:GSTLSVerify];
    [stream setProperty:priority([tls objectForKey:@"version"]) forKey:GSTLSPriority];
    // An address is not a host name (RFC 6066, section 3).
    if (!isAddress(name)) [stream setProperty:name forKey:GSTLSServerName];
}
#else
// Apple's streams have no property for a file of trusted certificates.
#define TLS ""

static void secure(NSStream *stream, NSDictionary *tls) {}
#endif

// The streams have no property for the TLS version. GNUstep's session describes the version as "- Protocol: TLS1.3".
static NSString *version(NSStream *stream) {
    NSString *info = [stream valueForKeyPath:@"handler.session.sessionInfo"];
    NSRange found = [info rangeOfString:@"Protocol: TLS"];
    return [info substringWithRange:NSMakeRange(NSMaxRange(found), 3)];
}

@interface Connection : NSObject <NSStreamDelegate> {
    NSNumber *number;
    NSInputStream *input;
    NSOutputStream *output;
    NSMutableData *received, *unsent;
    NSString *trouble;
    BOOL isSecure, started, stopping;
@public
    BOOL over;
}
- (void)start;
- (void)end;
- (void)read;
- (BOOL)readOnce;
- (void)write;
- (NSString *)reason:(NSError *)error;
- (void)fail:(NSError *)error;
- (void)stop:(NSString *)why;
@end

@implementation Connection

- (id)initWithNumber:(NSNumber *)aNumber host:(NSString *)host port:(NSInteger)port tls:(NSDictionary *)tls {
    if (!(self = [super init])) return nil;
    number = [aNumber retain];
    isSecure = tls != nil;
    received = [[NSMutableData alloc] init];
    unsent = [[NSMutableData alloc] init];
#ifdef GNUSTEP
    NSHost *found = [NSHost hostWithAddress:host];
    [NSStream getStreamsToHost:found ? found : [NSHost hostWithName:host] port:port inputStream:&input outputStream:&output];
#else
    [NSStream getStreamsToHostWithName:host port:port inputStream:&input outputStream:&output];
#endif
    [input retain];
    [output retain];
    if (isSecure) secure(output, tls);
    for (NSStream *stream in [NSArray arrayWithObjects:input, output, nil]) {
        [stream setDelegate:self];
        [stream scheduleInRunLoop:[NSRunLoop currentRunLoop] forMode:NSDefaultRunLoopMode];
        [stream open];
    }
    return self;
}

- (void)stream:(NSStream *)stream handleEvent:(NSStreamEvent)event {
    if (over) return;
    switch (event) {
        case NSStreamEventOpenCompleted: [self start]; break;
        case NSStreamEventHasBytesAvailable: [self read]; break;
        case NSStreamEventHasSpaceAvailable: [self write]; break;
        case NSStreamEventErrorOccurred: [self fail:[stream streamError]]; break;
        case NSStreamEventEndEncountered: [self end]; break;
        default: break;
    }
}

// With TLS, the stream sends its open event after the handshake and the verification of the certificate.
- (void)start {
    if (!started && isSecure) say(@"secured", number, @"version", version(input));
    if (!started) say(@"start", number, nil, nil);
    started = YES;
}

- (void)end {
    if ([received length] && !stopping) say(@"leftover", number, @"data", text(received));
    [self stop:@"eof"];
}

// A failed handshake has no errno: its error has the code 0, or is nil if the stream ended.
- (NSString *)reason:(NSError *)error {
    return isSecure && ![error code] ? @"tls-failed" : reason(error);
}

// With TLS, GNUstep sends no further event for the rest of a record that it has already decrypted.
- (void)read {
    while ([self readOnce] && isSecure && [input hasBytesAvailable]) {}
}

- (BOOL)readOnce {
    uint8_t bytes[4096];
    NSInteger count = [input read:bytes maxLength:sizeof bytes];
    // A close_notify causes no event. Without TLS, the end event has already been handled inside the read.
    if (!count && !over) [self end];
    if (count <= 0 || stopping) return NO;
    [received appendBytes:bytes length:count];
    NSData *crlf = [NSData dataWithBytes:"\r\n" length:2];
    NSRange end;
    while ((end = [received rangeOfData:crlf options:0 range:NSMakeRange(0, [received length])]).location != NSNotFound) {
        say(@"line", number, @"data", text([received subdataWithRange:NSMakeRange(0, end.location)]));
        [received replaceBytesInRange:NSMakeRange(0, NSMaxRange(end)) withBytes:NULL length:0];
    }
    return YES;
}

- (void)write {
    while ([unsent length] && [output hasSpaceAvailable]) {
        NSInteger count = [output write:[unsent bytes] maxLength:[unsent length]];
        if (count <= 0) {
            // GNUstep also returns -1 if the kernel accepts no bytes at the moment. That is not an error on the stream.
            if ([output streamStatus] == NSStreamStatusError) [self fail:[output streamError]];
            return;
        }
        [unsent replaceBytesInRange:NSMakeRange(0, count) withBytes:NULL length:0];
        if (!stopping) say(@"sent", number, @"bytes", [NSNumber numberWithInteger:count]);
    }
    if (stopping && ![unsent length]) [self stop:@"stopped"];
}

- (void)send:(NSString *)line {
    [unsent appendData:[line dataUsingEncoding:NSISOLatin1StringEncoding]];
    [unsent appendBytes:"\r\n" length:2];
    if (started) [self write];
}

- (void)stop {
    stopping = YES;
    if (!started || ![unsent length]) [self stop:@"stopped"];
}

- (void)fail:(NSError *)error {
    NSString *why = [self reason:error];
    if ([why isEqual:@"other"]) trouble = machine(error);
    [self stop:why];
}

- (void)stop:(NSString *)why {
    if (over) return;
    over = YES;
    for (NSStream *stream in [NSArray arrayWithObjects:output, input, nil]) {
        [stream setDelegate:nil];
        [stream removeFromRunLoop:[NSRunLoop currentRunLoop] forMode:NSDefaultRunLoopMode];
        [stream close];
    }
    if (trouble && !stopping) {
        tell(@"stop", number, [NSDictionary dictionaryWithObjectsAndKeys:why, @"reason", trouble, @"machine", nil]);
    } else {
        say(@"stop", number, @"reason", stopping ? @"stopped" : why);
    }
}

@end

// A separate thread reads ops from stdin; they are performed in the run loop, like the streams' events.
@interface Harness : NSObject {
    NSMutableDictionary *connections;
}
@end

@implementation Harness

- (NSString *)perform:(NSDictionary *)op {
    NSString *name = [op objectForKey:@"op"];
    NSNumber *number = [op objectForKey:@"conn"];
    Connection *connection = [connections objectForKey:number];
    if ([name isEqual:@"connect"]) {
        if (connection) return @"already-started";
        if (![[op objectForKey:@"framing"] isEqual:@"crlf"]) return @"unsupported";
        NSDictionary *tls = [op objectForKey:@"tls"];
        // GNUstep does not support ALPN.
        if ([tls objectForKey:@"alpn"]) return @"unsupported";
        connection = [[Connection alloc] initWithNumber:number host:[op objectForKey:@"host"] port:[[op objectForKey:@"port"] integerValue] tls:tls];
        [connections setObject:connection forKey:number];
        [connection release];
    } else if (!connection) {
        return @"not-started";
    } else if ([name isEqual:@"stop"]) {
        [connection stop];
    } else if (connection->over) {
        return @"stopped";
    } else if ([name isEqual:@"send"]) {
        [connection send:[op objectForKey:@"data"]];
    } else {
        return @"unsupported";
    }
    return nil;
}

- (void)take:(NSData *)line {
    NSDictionary *op = [NSJSONSerialization JSONObjectWithData:line options:0 error:NULL];
    NSString *error = [self perform:op];
    NSString *id = [op objectForKey:@"id"];
    printf(error ? "{\"ev\":\"done\",\"id\":%d,\"error\":\"%s\"}\n" : "{\"ev\":\"done\",\"id\":%d}\n", [id intValue], [error UTF8String]);
    fflush(stdout);
}

- (void)listen {
    char *line = NULL;
    size_t space = 0;
    ssize_t count;
    while ((count = getline(&line, &space, stdin)) > 0) {
        NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
        [self performSelectorOnMainThread:@selector(take:) withObject:[NSData dataWithBytes:line length:count] waitUntilDone:NO];
        [pool release];
    }
    exit(0);
}

- (void)run {
    connections = [[NSMutableDictionary alloc] init];
    puts("{\"ev\":\"hello\",\"proto\":1,\"minor\":4,\"name\":\"nsstream\",\"can\":[\"connect\",\"send\",\"lines\",\"crlf\",\"sent\",\"leftover\",\"stop\"" TLS "],\"lacks\":[\"frames\"]}");
    fflush(stdout);
    [NSThread detachNewThreadSelector:@selector(listen) toTarget:self withObject:nil];
    [[NSRunLoop currentRunLoop] run];
}

@end

int main(void) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    [[[Harness alloc] init] run];
    [pool release];
    return 0;
}
