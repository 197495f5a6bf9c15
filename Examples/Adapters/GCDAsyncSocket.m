// CocoaAsyncSocket's GCDAsyncSocket, used as in its samples: one queue for the delegate and for all calls.
// It reads lines (repeated `readDataToData:`), or, with the argument `reads`, performs one read for each op `read`.
// Apple systems (written for them, never compiled there):
//   clang -fobjc-arc -framework Foundation -framework Security -framework CFNetwork -I Source/GCD -o gcdasyncsocket Examples/Adapters/GCDAsyncSocket.m Source/GCD/GCDAsyncSocket.m
// Elsewhere, with libobjc2, a GNUstep base that was built for it with clang, and libdispatch; DIR contains stubs of
// TargetConditionals.h, Availability.h and Security/*.h (types and functions of TLS that are never called, NS_ERROR_ENUM, strlcpy),
// and a copy of Source/GCD without the lines that set sin_len, sin6_len, sun_len and SO_NOSIGPIPE (ignore SIGPIPE instead),
// where sa_len is [address length]:
//   clang -fobjc-arc -fobjc-runtime=gnustep-2.2 -fblocks -fexceptions -fconstant-string-class=NSConstantString -D_GNU_SOURCE -D_NATIVE_OBJC_EXCEPTIONS \
//     -pthread -include Foundation/Foundation.h -I DIR -o gcdasyncsocket Examples/Adapters/GCDAsyncSocket.m DIR/GCDAsyncSocket.m -lgnustep-base -lobjc -ldispatch -lm
#import <Foundation/Foundation.h>
#import <dispatch/dispatch.h>
#import "GCDAsyncSocket.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(NSDictionary *message) {
    NSData *json = [NSJSONSerialization dataWithJSONObject:message options:0 error:NULL];
    fwrite([json bytes], 1, [json length], stdout);
    putchar('\n');
    fflush(stdout);
}

static NSString *text(NSData *bytes) { return [[NSString alloc] initWithData:bytes encoding:NSISOLatin1StringEncoding]; }
static NSData *bytes(NSString *text) { return [text dataUsingEncoding:NSISOLatin1StringEncoding]; }

// Returns the name of the errno if the machine, not the peer, caused the error; nil otherwise.
static NSString *machine(NSError *error) {
    if ([[error domain] isEqual:GCDAsyncSocketErrorDomain]) return nil;
    switch ([error code]) {
        case EADDRNOTAVAIL: return @"EADDRNOTAVAIL";
        case EMFILE: return @"EMFILE";
        case ENFILE: return @"ENFILE";
        case ENOBUFS: return @"ENOBUFS";
        case ENOMEM: return @"ENOMEM";
        default: return nil;
    }
}

// Returns the fields of a message, with the field `machine` added if the machine caused the error.
static NSDictionary *fields(NSDictionary *known, NSError *error) {
    NSMutableDictionary *all = [known mutableCopy];
    if (machine(error)) [all setObject:machine(error) forKey:@"machine"];
    return all;
}

static NSString *reason(NSError *error) {
    if (!error) return @"stopped";
    if ([[error domain] isEqual:GCDAsyncSocketErrorDomain]) {
        switch ([error code]) {
            case GCDAsyncSocketClosedError: return @"eof";
            case GCDAsyncSocketConnectTimeoutError:
            case GCDAsyncSocketReadTimeoutError:
            case GCDAsyncSocketWriteTimeoutError: return @"timeout";
            case GCDAsyncSocketReadMaxedOutError: return @"too-long";
            default: return @"other";
        }
    }
    switch ([error code]) {
        case ECONNREFUSED: return @"refused";
        case ECONNRESET: return @"reset";
        case EPIPE: return @"broken-pipe";
        case ETIMEDOUT: return @"timeout";
        default: return @"other";
    }
}

static NSData *terminator(NSDictionary *op) {
    NSString *framing = [op objectForKey:@"framing"];
    if ([framing isEqual:@"crlf"]) return [GCDAsyncSocket CRLFData];
    if ([framing isEqual:@"lf"]) return [GCDAsyncSocket LFData];
    if ([framing isEqual:@"cr"]) return [GCDAsyncSocket CRData];
    if ([framing isEqual:@"nul"]) return [GCDAsyncSocket ZeroData];
    if ([framing isEqual:@"delimiter"]) return bytes([op objectForKey:@"delimiter"]);
    return nil;
}

// The state of a connection; the library's user data holds a single object.
@interface Peer : NSObject
@property (nonatomic, strong) GCDAsyncSocket *socket;
@property (nonatomic, strong) NSNumber *number;
@property (nonatomic, strong) NSDictionary *op; // the op `connect` or `listen`
@property (nonatomic, strong) NSData *terminator; // nil for the framing `none`
@property (nonatomic) BOOL isStopping, isOver;
@end

@implementation Peer
@end

@interface Harness : NSObject <GCDAsyncSocketDelegate>
@end

@implementation Harness {
    dispatch_queue_t queue;
    NSMutableDictionary *peers;
    BOOL readsOnDemand;
    long accepted;
}

- (instancetype)initReadingOnDemand:(BOOL)onDemand {
    if ((self = [super init])) {
        queue = dispatch_queue_create("harness", DISPATCH_QUEUE_SERIAL);
        peers = [NSMutableDictionary dictionary];
        readsOnDemand = onDemand;
        accepted = 1000000;
    }
    return self;
}

- (Peer *)peer:(NSNumber *)number op:(NSDictionary *)op {
    Peer *peer = [[Peer alloc] init];
    peer.number = number;
    peer.op = op;
    peer.terminator = terminator(op);
    [peers setObject:peer forKey:number];
    return peer;
}

- (void)read:(Peer *)peer until:(NSData *)delimiter timeout:(NSTimeInterval)seconds {
    NSUInteger most = [[peer.op objectForKey:@"max-line"] unsignedIntegerValue];
    if (most) most += [delimiter length]; // The library counts the terminator; 0 means no limit.
    [peer.socket readDataToData:delimiter withTimeout:seconds maxLength:most tag:0];
}

- (void)readOn:(Peer *)peer {
    if (readsOnDemand) return;
    if (peer.terminator) [self read:peer until:peer.terminator timeout:-1];
    else [peer.socket readDataWithTimeout:-1 tag:0];
}

- (void)started:(Peer *)peer {
    say(@{@"ev": @"start", @"conn": peer.number});
    [self readOn:peer];
}

// MARK: the delegate

- (void)socket:(GCDAsyncSocket *)socket didConnectToHost:(NSString *)host port:(uint16_t)port {
    [self started:[socket userData]];
}

- (void)socket:(GCDAsyncSocket *)socket didConnectToUrl:(NSURL *)url {
    [self started:[socket userData]];
}

- (void)socket:(GCDAsyncSocket *)socket didAcceptNewSocket:(GCDAsyncSocket *)connection {
    Peer *listener = [socket userData];
    Peer *peer = [self peer:@(accepted++) op:listener.op];
    [self use:connection for:peer];
    say(@{@"ev": @"accept", @"conn": peer.number, @"listener": listener.number});
    [self started:peer];
}

- (void)socket:(GCDAsyncSocket *)socket didReadData:(NSData *)data withTag:(long)tag {
    Peer *peer = [socket userData];
    if (peer.isStopping) return;
    BOOL isLine = peer.terminator && !readsOnDemand;
    NSUInteger length = [data length] - (isLine ? [peer.terminator length] : 0);
    say(@{@"ev": isLine ? @"line" : @"data", @"conn": peer.number, @"data": text([data subdataWithRange:NSMakeRange(0, length)])});
    [self readOn:peer];
}

- (void)socketDidCloseReadStream:(GCDAsyncSocket *)socket {
    Peer *peer = [socket userData];
    if (!peer.isStopping) say(@{@"ev": @"half-closed", @"conn": peer.number});
}

- (void)socket:(GCDAsyncSocket *)socket didWriteDataWithTag:(long)tag {
    Peer *peer = [socket userData];
    if (!peer.isStopping) say(@{@"ev": @"sent", @"conn": peer.number, @"bytes": @(tag)});
}

- (void)socketDidDisconnect:(GCDAsyncSocket *)socket withError:(NSError *)error {
    Peer *peer = [socket userData];
    peer.isOver = YES;
    NSString *detail = error ? [error localizedDescription] : @"";
    say(fields(@{@"ev": @"stop", @"conn": peer.number, @"reason": peer.isStopping ? @"stopped" : reason(error), @"detail": detail ? detail : @""},
               peer.isStopping ? nil : error));
    peer.socket = nil;
}

// MARK: the ops

- (void)use:(GCDAsyncSocket *)socket for:(Peer *)peer {
    peer.socket = socket;
    [socket setUserData:peer];
    [socket setAutoDisconnectOnClosedReadStream:![[peer.op objectForKey:@"allow-half-close"] boolValue]];
}

- (NSDictionary *)open:(NSDictionary *)op number:(NSNumber *)number {
    Peer *peer = [self peer:number op:op];
    GCDAsyncSocket *socket = [[GCDAsyncSocket alloc] initWithDelegate:self delegateQueue:queue];
    [self use:socket for:peer];
    NSString *host = [op objectForKey:@"host"], *path = [op objectForKey:@"path"];
    uint16_t port = [[op objectForKey:@"port"] unsignedShortValue];
    NSURL *url = path ? [NSURL fileURLWithPath:path] : nil;
    NSError *error = nil;
    if ([[op objectForKey:@"op"] isEqual:@"listen"]) {
        if (url ? [socket acceptOnUrl:url error:&error] : [socket acceptOnInterface:host port:port error:&error]) {
            return url ? @{} : @{@"port": @([socket localPort])};
        }
        [peers removeObjectForKey:number];
        return fields(@{@"error": [error localizedDescription]}, error);
    }
    NSNumber *timeout = [op objectForKey:@"connect-timeout-ms"];
    NSTimeInterval seconds = timeout ? [timeout doubleValue] / 1000 : -1;
    if (url ? ![socket connectToUrl:url withTimeout:seconds error:&error] : ![socket connectToHost:host onPort:port withTimeout:seconds error:&error]) {
        // No connection was started, so the delegate is not called.
        peer.isOver = YES;
        say(fields(@{@"ev": @"stop", @"conn": number, @"reason": reason(error), @"detail": [error localizedDescription]}, error));
    }
    return @{};
}

- (void)read:(NSDictionary *)op from:(Peer *)peer {
    NSNumber *length = [op objectForKey:@"length"], *timeout = [op objectForKey:@"timeout-ms"];
    NSString *delimiter = [op objectForKey:@"until"];
    NSTimeInterval seconds = timeout ? [timeout doubleValue] / 1000 : -1;
    if (length) [peer.socket readDataToLength:[length unsignedIntegerValue] withTimeout:seconds tag:0];
    else if (delimiter) [self read:peer until:bytes(delimiter) timeout:seconds];
    else [peer.socket readDataWithTimeout:seconds tag:0];
}

- (NSDictionary *)perform:(NSDictionary *)op {
    NSString *name = [op objectForKey:@"op"];
    NSNumber *number = [op objectForKey:@"conn"];
    Peer *peer = [peers objectForKey:number];
    if ([name isEqual:@"connect"] || [name isEqual:@"listen"]) {
        if (peer) return @{@"error": @"already-started"};
        if (!terminator(op) && ![[op objectForKey:@"framing"] isEqual:@"none"]) return @{@"error": @"unsupported"};
        return [self open:op number:number];
    }
    if (!peer) return @{@"error": @"not-started"};
    if ([name isEqual:@"stop"]) {
        if (peer.isOver || peer.isStopping) return @{};
        peer.isStopping = YES;
        if ([peer.socket isConnected]) [peer.socket disconnectAfterWriting];
        else [peer.socket disconnect];
        return @{};
    }
    if (peer.isOver || peer.isStopping) return @{@"error": @"stopped"};
    if ([name isEqual:@"send"]) {
        NSMutableData *message = [bytes([op objectForKey:@"data"]) mutableCopy];
        if (peer.terminator) [message appendData:peer.terminator];
        [peer.socket writeData:message withTimeout:-1 tag:(long)[message length]];
    } else if ([name isEqual:@"read"] && readsOnDemand) {
        [self read:op from:peer];
    } else {
        return @{@"error": @"unsupported"}; // The library has no half-close.
    }
    return @{};
}

- (void)take:(NSData *)line {
    dispatch_async(queue, ^{
        NSDictionary *op = [NSJSONSerialization JSONObjectWithData:line options:0 error:NULL];
        NSMutableDictionary *answer = [@{@"ev": @"done", @"id": [op objectForKey:@"id"]} mutableCopy];
        [answer addEntriesFromDictionary:[self perform:op]];
        say(answer);
    });
}

@end

int main(int count, char **words) {
    @autoreleasepool {
        BOOL onDemand = count > 1 && strcmp(words[1], "reads") == 0;
        // The capability stop-reading is omitted because a requested read can't be cancelled, and leftover because the
        // bytes of an incomplete read are dropped.
        NSArray *both = @[@"connect", @"listen", @"unix", @"send", @"send-early", @"data", @"sent", @"half-closed", @"stop", @"connect-timeout", @"max-line"];
        NSArray *can = [both arrayByAddingObjectsFromArray:onDemand ? @[@"reads", @"none", @"crlf"] : @[@"lines"]];
        say(@{@"ev": @"hello", @"proto": @1, @"minor": @4, @"name": onDemand ? @"gcdasyncsocket-reads" : @"gcdasyncsocket",
              @"can": can, @"lacks": @[@"frames"]});
        Harness *harness = [[Harness alloc] initReadingOnDemand:onDemand];
        char *line = NULL;
        size_t space = 0;
        ssize_t length;
        while ((length = getline(&line, &space, stdin)) > 0) {
            @autoreleasepool {
                [harness take:[NSData dataWithBytes:line length:(NSUInteger)length]];
            }
        }
        free(line);
    }
    return 0;
}
